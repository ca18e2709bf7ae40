import type { Container, Lenient, PodSpec } from '../../apply/index.js';
import type { Deployment, Role, Service } from '../../object/kinds.js';
import type { NodePlacement } from '../lifecycle-status.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import type { OptionNames } from '../../system/known-options.js';

/** Labels, or what they select; annotations. */
export type TextMap = Readonly<Record<string, string>>;

/** What every object has. */
export interface ClusterObjectOptions {
  readonly name: string;
  /** Beside those of the builder, which they override. @defaultValue none */
  readonly labels?: TextMap | undefined;
  /** @defaultValue none */
  readonly annotations?: TextMap | undefined;
}

/** What every object of a namespace has. */
export interface NamespacedObjectOptions extends ClusterObjectOptions {
  /** @defaultValue none: it is set by whoever creates the object */
  readonly namespace?: string | undefined;
}

type DeploymentSpec = Lenient<NonNullable<Deployment['spec']>>;
type ServiceSpec = Lenient<NonNullable<Service['spec']>>;

/** Its `spec` is there. */
export type Specified<T extends { spec?: unknown }> = { spec: NonNullable<T['spec']> };

/** Options of `ResourceBuilder.deployment` and `operatorDeployment`. */
export interface DeploymentOptions extends NamespacedObjectOptions {
  /**
   * Which Pods are its; their template and the Deployment have these labels, too. At least one. It
   * can't be changed once the Deployment is made: who wants another gives the Deployment another name.
   */
  readonly matchLabels: TextMap;
  /** At least 0. @defaultValue 1 */
  readonly replicas?: number | undefined;
  /** Its `serviceAccountName`. @defaultValue what `podSpec` says */
  readonly serviceAccount?: string | undefined;
  readonly podSpec: PodSpec;
  /** Of the Pods alone. @defaultValue none */
  readonly podLabels?: TextMap | undefined;
  /** Of the Pods alone. @defaultValue none */
  readonly podAnnotations?: TextMap | undefined;
  /** What is set in it replaces the same of `podSpec`. @defaultValue what `podSpec` says */
  readonly nodePlacement?: NodePlacement | undefined;
  /** What else there is to be said, for example `strategy`. @defaultValue nothing */
  readonly spec?: Omit<DeploymentSpec, 'selector' | 'template' | 'replicas'> | undefined;
}

/** Options of `ResourceBuilder.container`: a container, of which name and image have to be said. */
export type ContainerOptions = Omit<Container, 'name' | 'image' | 'imagePullPolicy'> & {
  readonly name: string;
  readonly image: string;
  /** @defaultValue the server's: `Always` for the tag `latest` and for none, else `IfNotPresent` */
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never' | undefined;
};

/** Options of `ResourceBuilder.portsContainer`. */
export type PortsContainerOptions = ContainerOptions & {
  readonly ports: NonNullable<Container['ports']>;
};

/** Options of `ResourceBuilder.service`. */
export interface ServiceOptions extends NamespacedObjectOptions {
  /** Which Pods it leads to; the Service has these labels, too. @defaultValue none: no selector */
  readonly matchLabels?: TextMap | undefined;
  /** The rest, for example `type` and `ports`. */
  readonly spec: Omit<ServiceSpec, 'selector'>;
}

/** Options of `ResourceBuilder.secret`. */
export interface SecretOptions extends NamespacedObjectOptions {
  /** @defaultValue the server's: `Opaque` */
  readonly type?: string | undefined;
  /** In base64. @defaultValue none */
  readonly data?: TextMap | undefined;
  /** Texts, which are encoded and put among `data`. @defaultValue none */
  readonly stringData?: TextMap | undefined;
  /** @defaultValue false */
  readonly immutable?: boolean | undefined;
}

/** Options of `ResourceBuilder.configMap`. */
export interface ConfigMapOptions extends NamespacedObjectOptions {
  /** @defaultValue none */
  readonly data?: TextMap | undefined;
  /** In base64. @defaultValue none */
  readonly binaryData?: TextMap | undefined;
  /** @defaultValue false */
  readonly immutable?: boolean | undefined;
}

/** What a role allows. */
export type RoleRules = readonly Lenient<NonNullable<Role['rules']>[number]>[];

/** Options of `ResourceBuilder.role`. */
export interface RoleOptions extends NamespacedObjectOptions {
  readonly rules: RoleRules;
}

/** Options of `ResourceBuilder.clusterRole` and `operatorClusterRole`. */
export interface ClusterRoleOptions extends ClusterObjectOptions {
  readonly rules: RoleRules;
}

/** Options of `ResourceBuilder.aggregateClusterRole`. */
export interface AggregateClusterRoleOptions extends ClusterRoleOptions {
  /** The role that its rules become a part of, for example `view`. */
  readonly aggregateTo: string;
}

/** Whose role it is. A binding can't be changed to another role: give it another name then. */
export interface RoleBindingOptions extends NamespacedObjectOptions {
  readonly roleRef: { readonly kind: 'Role' | 'ClusterRole'; readonly name: string };
  /** The name of the ServiceAccount that gets it. */
  readonly serviceAccount: string;
  /** Of the ServiceAccount. @defaultValue that of the binding, which has to be given then */
  readonly serviceAccountNamespace?: string | undefined;
}

/** Options of `ResourceBuilder.clusterRoleBinding` and `operatorClusterRoleBinding`. */
export interface ClusterRoleBindingOptions extends ClusterObjectOptions {
  /** The name of the ClusterRole. It can't be changed: give the binding another name then. */
  readonly clusterRole: string;
  /** The name of the ServiceAccount that gets it. */
  readonly serviceAccount: string;
  /** Of the ServiceAccount. */
  readonly serviceAccountNamespace: string;
}

/** Options of `ResourceBuilder.serviceAccount` and `operatorServiceAccount`. */
export interface ServiceAccountOptions extends NamespacedObjectOptions {
  /** @defaultValue the server's: true */
  readonly automountServiceAccountToken?: boolean | undefined;
  /** Names of Secrets. @defaultValue none */
  readonly imagePullSecrets?: readonly string[] | undefined;
}

/** The options of each method of `ResourceBuilder`. */
interface OptionsByMethod {
  readonly deployment: DeploymentOptions;
  readonly operatorDeployment: DeploymentOptions;
  readonly service: ServiceOptions;
  readonly secret: SecretOptions;
  readonly configMap: ConfigMapOptions;
  readonly clusterRole: ClusterRoleOptions;
  readonly operatorClusterRole: ClusterRoleOptions;
  readonly aggregateClusterRole: AggregateClusterRoleOptions;
  readonly role: RoleOptions;
  readonly roleBinding: RoleBindingOptions;
  readonly clusterRoleBinding: ClusterRoleBindingOptions;
  readonly operatorClusterRoleBinding: ClusterRoleBindingOptions;
  readonly serviceAccount: ServiceAccountOptions;
  readonly operatorServiceAccount: ServiceAccountOptions;
}

const inCluster = { name: true, labels: true, annotations: true };
const inNamespace = { ...inCluster, namespace: true };
const deployment: OptionNames<DeploymentOptions> = {
  ...{ ...inNamespace, matchLabels: true, replicas: true, serviceAccount: true, podSpec: true },
  ...{ podLabels: true, podAnnotations: true, nodePlacement: true, spec: true },
};
const clusterRole: OptionNames<ClusterRoleOptions> = { ...inCluster, rules: true };
const clusterRoleBinding: OptionNames<ClusterRoleBindingOptions> = {
  ...{ ...inCluster, clusterRole: true, serviceAccount: true, serviceAccountNamespace: true },
};
const serviceAccount: OptionNames<ServiceAccountOptions> = {
  ...{ ...inNamespace, automountServiceAccountToken: true, imagePullSecrets: true },
};

const optionNames: { readonly [M in keyof OptionsByMethod]: OptionNames<OptionsByMethod[M]> } = {
  ...{ deployment, operatorDeployment: deployment },
  service: { ...inNamespace, matchLabels: true, spec: true },
  secret: { ...inNamespace, type: true, data: true, stringData: true, immutable: true },
  configMap: { ...inNamespace, data: true, binaryData: true, immutable: true },
  ...{ clusterRole, operatorClusterRole: clusterRole },
  aggregateClusterRole: { ...clusterRole, aggregateTo: true },
  role: { ...inNamespace, rules: true },
  roleBinding: {
    ...{ ...inNamespace, roleRef: true, serviceAccount: true, serviceAccountNamespace: true },
  },
  ...{ clusterRoleBinding, operatorClusterRoleBinding: clusterRoleBinding },
  ...{ serviceAccount, operatorServiceAccount: serviceAccount },
};

/** @throws OperatorError `InvalidOption`: a method of `ResourceBuilder` has an unknown option. */
export function checkOptions<M extends keyof OptionsByMethod>(
  method: M,
  options: OptionsByMethod[M],
): void {
  const subject = `${method} ${options.name}`;
  refuseUnknownOptions<OptionsByMethod[M]>(subject, options, optionNames[method]);
}
