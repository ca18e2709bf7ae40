import type { Container, Lenient, PodSpec } from '../../apply/index.js';
import type { Deployment, Role, Service } from '../../object/index.js';
import type { NodePlacement } from '../lifecycle-status.js';
import { refuseUnknownOptions } from '../../system/index.js';
import type { OptionNames } from '../../system/index.js';

/** Labels, a label selector, or annotations. */
export type TextMap = Readonly<Record<string, string>>;

/** The options of every object. */
export interface ClusterObjectOptions {
  readonly name: string;
  /** Additional labels, which override the builder's. @defaultValue no additional labels */
  readonly labels?: TextMap | undefined;
  /** Annotations of the object. @defaultValue no annotations */
  readonly annotations?: TextMap | undefined;
}

/** The options of every namespaced object. */
export interface NamespacedObjectOptions extends ClusterObjectOptions {
  /**
   * If undefined, set the namespace when you create the object.
   * @defaultValue undefined
   */
  readonly namespace?: string | undefined;
}

type DeploymentSpec = Lenient<NonNullable<Deployment['spec']>>;
type ServiceSpec = Lenient<NonNullable<Service['spec']>>;

/** Makes `spec` required. */
export type Specified<T extends { spec?: unknown }> = { spec: NonNullable<T['spec']> };

/** Options of `ResourceBuilder.deployment` and `operatorDeployment`. */
export interface DeploymentOptions extends NamespacedObjectOptions {
  /**
   * The selector of its Pods. Their template and the Deployment get these labels too. At least one. Immutable
   * after creation: to change it, give the Deployment another name.
   */
  readonly matchLabels: TextMap;
  /** The number of Pods, at least 0. @defaultValue 1 */
  readonly replicas?: number | undefined;
  /** The `serviceAccountName` of the Pods. @defaultValue the one in `podSpec` */
  readonly serviceAccount?: string | undefined;
  readonly podSpec: PodSpec;
  /** Additional labels of the Pods. @defaultValue no labels */
  readonly podLabels?: TextMap | undefined;
  /** Annotations of the Pods. @defaultValue no annotations */
  readonly podAnnotations?: TextMap | undefined;
  /** Placement fields that replace the same fields of `podSpec`. @defaultValue the fields of `podSpec` */
  readonly nodePlacement?: NodePlacement | undefined;
  /** Further fields, for example `strategy`. @defaultValue no further fields */
  readonly spec?: Omit<DeploymentSpec, 'selector' | 'template' | 'replicas'> | undefined;
}

/** Options of `ResourceBuilder.container`: a container with a required name and image. */
export type ContainerOptions = Omit<Container, 'name' | 'image' | 'imagePullPolicy'> & {
  readonly name: string;
  readonly image: string;
  /**
   * When the kubelet pulls the image.
   * @defaultValue the server's: `Always` for the tag `latest` or no tag, else `IfNotPresent`
   */
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never' | undefined;
};

/** Options of `ResourceBuilder.portsContainer`. */
export type PortsContainerOptions = ContainerOptions & {
  readonly ports: NonNullable<Container['ports']>;
};

/** Options of `ResourceBuilder.service`. */
export interface ServiceOptions extends NamespacedObjectOptions {
  /** The selector of its Pods; the Service gets these labels too. @defaultValue undefined: no selector */
  readonly matchLabels?: TextMap | undefined;
  /** The other fields, for example `type` and `ports`. */
  readonly spec: Omit<ServiceSpec, 'selector'>;
}

/** Options of `ResourceBuilder.secret`. */
export interface SecretOptions extends NamespacedObjectOptions {
  /** The type of the Secret. @defaultValue the server's: `Opaque` */
  readonly type?: string | undefined;
  /** Values in base64. @defaultValue no data */
  readonly data?: TextMap | undefined;
  /** Plain strings, which are encoded and added to `data`. @defaultValue no strings */
  readonly stringData?: TextMap | undefined;
  /** Refuses changes of the data after creation. @defaultValue false */
  readonly immutable?: boolean | undefined;
}

/** Options of `ResourceBuilder.configMap`. */
export interface ConfigMapOptions extends NamespacedObjectOptions {
  /** Plain strings. @defaultValue no data */
  readonly data?: TextMap | undefined;
  /** Values in base64. @defaultValue no data */
  readonly binaryData?: TextMap | undefined;
  /** Refuses changes of the data after creation. @defaultValue false */
  readonly immutable?: boolean | undefined;
}

/** The permissions of a role. */
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
  /** The role that receives the rules of this ClusterRole by aggregation, for example `view`. */
  readonly aggregateTo: string;
}

/**
 * Options of `ResourceBuilder.roleBinding`. The role of a binding is immutable: to change it, give the
 * binding another name.
 */
export interface RoleBindingOptions extends NamespacedObjectOptions {
  readonly roleRef: { readonly kind: 'Role' | 'ClusterRole'; readonly name: string };
  /** The name of the ServiceAccount that gets the role. */
  readonly serviceAccount: string;
  /** The namespace of the ServiceAccount. @defaultValue that of the binding, which is required then */
  readonly serviceAccountNamespace?: string | undefined;
}

/** Options of `ResourceBuilder.clusterRoleBinding` and `operatorClusterRoleBinding`. */
export interface ClusterRoleBindingOptions extends ClusterObjectOptions {
  /** The name of the ClusterRole. Immutable: to change it, give the binding another name. */
  readonly clusterRole: string;
  /** The name of the ServiceAccount that gets the role. */
  readonly serviceAccount: string;
  /** The namespace of the ServiceAccount. */
  readonly serviceAccountNamespace: string;
}

/** Options of `ResourceBuilder.serviceAccount` and `operatorServiceAccount`. */
export interface ServiceAccountOptions extends NamespacedObjectOptions {
  /** Mounts a token of the ServiceAccount into Pods. @defaultValue the server's: true */
  readonly automountServiceAccountToken?: boolean | undefined;
  /** Names of Secrets. @defaultValue no Secrets */
  readonly imagePullSecrets?: readonly string[] | undefined;
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

const optionNames = {
  ...{ deployment, operatorDeployment: deployment },
  service: { ...inNamespace, matchLabels: true, spec: true } satisfies OptionNames<ServiceOptions>,
  secret: {
    ...{ ...inNamespace, type: true, data: true, stringData: true, immutable: true },
  } satisfies OptionNames<SecretOptions>,
  configMap: {
    ...{ ...inNamespace, data: true, binaryData: true, immutable: true },
  } satisfies OptionNames<ConfigMapOptions>,
  ...{ clusterRole, operatorClusterRole: clusterRole },
  aggregateClusterRole: {
    ...{ ...clusterRole, aggregateTo: true },
  } satisfies OptionNames<AggregateClusterRoleOptions>,
  role: { ...inNamespace, rules: true } satisfies OptionNames<RoleOptions>,
  roleBinding: {
    ...{ ...inNamespace, roleRef: true, serviceAccount: true, serviceAccountNamespace: true },
  } satisfies OptionNames<RoleBindingOptions>,
  ...{ clusterRoleBinding, operatorClusterRoleBinding: clusterRoleBinding },
  ...{ serviceAccount, operatorServiceAccount: serviceAccount },
};

/** A method of `ResourceBuilder` that makes an object. */
export type BuilderMethod = keyof typeof optionNames;

/** @throws OperatorError `InvalidOption`: a method of `ResourceBuilder` has an unknown option. */
export function checkOptions(method: BuilderMethod, options: ClusterObjectOptions): void {
  refuseUnknownOptions<object>(`${method} ${options.name}`, options, optionNames[method]);
}
