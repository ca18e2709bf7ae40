import { encodedData } from '../../hash/index.js';
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Deployment,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  labelsProblem,
} from '../../object/index.js';
import type { KubernetesObject, ResourceType } from '../../object/index.js';
import { OperatorError, refuseUnknownOptions } from '../../system/index.js';
import {
  clusterRoleBindingBody,
  roleBindingBody,
  newContainer,
  deploymentBody,
  newObject,
} from './object-bodies.js';
import type { DeploymentContainer } from './object-bodies.js';
import { checkOptions } from './object-options.js';
import type {
  AggregateClusterRoleOptions,
  BuilderMethod,
  ClusterRoleBindingOptions,
  ClusterRoleOptions,
  ConfigMapOptions,
  ContainerOptions,
  DeploymentOptions,
  NamespacedObjectOptions,
  PortsContainerOptions,
  RoleBindingOptions,
  RoleOptions,
  SecretOptions,
  ServiceAccountOptions,
  ServiceOptions,
  Specified,
  TextMap,
} from './object-options.js';

/** Options of {@link ResourceBuilder}. */
export interface ResourceBuilderOptions {
  /** Labels of the system's objects. @defaultValue no labels */
  readonly commonLabels?: TextMap | undefined;
  /** Labels of the operator's own objects. @defaultValue no labels */
  readonly operatorLabels?: TextMap | undefined;
}

/**
 * Makes the objects of a system: plain, complete, each with the common labels. The methods whose names begin
 * with `operator` use the operator's labels instead.
 *
 * ## Guarantees
 * - An object shares nothing with other objects or its inputs, and may be modified.
 * - Names, labels and annotations that a server would reject are rejected here, and named; the server
 *   validates the rest.
 */
export class ResourceBuilder {
  readonly #common: TextMap;
  readonly #operator: TextMap;

  /** @throws OperatorError `InvalidOption`: a label is invalid. */
  constructor(options: ResourceBuilderOptions = {}) {
    const { commonLabels = {}, operatorLabels = {} } = options;
    const names = { commonLabels, operatorLabels };
    refuseUnknownOptions<ResourceBuilderOptions>('ResourceBuilder', options, names);
    this.#common = checkedLabels('commonLabels', commonLabels);
    this.#operator = checkedLabels('operatorLabels', operatorLabels);
  }

  /** Returns a new map of the system's labels and `labels`, which override them. */
  withCommonLabels(labels: TextMap = {}): Record<string, string> {
    return { ...this.#common, ...labels };
  }

  /** Returns a new map of the operator's labels and `labels`, which override them. */
  withOperatorLabels(labels: TextMap = {}): Record<string, string> {
    return { ...this.#operator, ...labels };
  }

  /**
   * Makes a Deployment whose selector is `matchLabels`.
   * @throws OperatorError `InvalidObject`: a server would reject the object. All methods throw this.
   */
  deployment(options: DeploymentOptions): Deployment & Specified<Deployment> {
    return specified(this.#made('deployment', Deployment, options, deploymentBody));
  }

  /** Makes a {@link deployment} with the operator's labels. Its selector is still `matchLabels` alone. */
  operatorDeployment(options: DeploymentOptions): Deployment & Specified<Deployment> {
    return specified(this.#made('operatorDeployment', Deployment, options, deploymentBody));
  }

  /** Makes a container of a `podSpec`. */
  container(options: ContainerOptions): DeploymentContainer {
    return newContainer(options);
  }

  /** Makes a {@link container} that has ports. */
  portsContainer(options: PortsContainerOptions): DeploymentContainer {
    return newContainer(options);
  }

  /** Makes a Service. `matchLabels` selects its Pods. */
  service(options: ServiceOptions): Service & Specified<Service> {
    const made = this.#made('service', Service, options, ({ matchLabels, spec }) => ({
      spec: { ...spec, selector: matchLabels },
    }));
    return specified(made);
  }

  /** Makes a Secret, with its strings encoded. */
  secret(options: SecretOptions): Secret {
    return this.#made('secret', Secret, options, ({ type, immutable }) => {
      const data = encodedData(options);
      return { type, immutable, ...(Object.keys(data).length > 0 && { data }) };
    });
  }

  /** Makes a ConfigMap. */
  configMap(options: ConfigMapOptions): ConfigMap {
    const { data, binaryData, immutable } = options;
    return this.#made('configMap', ConfigMap, options, () => ({ data, binaryData, immutable }));
  }

  /** Makes a ClusterRole. */
  clusterRole(options: ClusterRoleOptions): ClusterRole {
    return this.#made('clusterRole', ClusterRole, options, rulesOf);
  }

  /** Makes a ClusterRole with the operator's labels. */
  operatorClusterRole(options: ClusterRoleOptions): ClusterRole {
    return this.#made('operatorClusterRole', ClusterRole, options, rulesOf);
  }

  /** Makes a ClusterRole whose rules are aggregated to another, such as `view`. */
  aggregateClusterRole(options: AggregateClusterRoleOptions): ClusterRole {
    const aggregate = `rbac.authorization.k8s.io/aggregate-to-${options.aggregateTo}`;
    const labels = { ...options.labels, [aggregate]: 'true' };
    return this.#made('aggregateClusterRole', ClusterRole, { ...options, labels }, rulesOf);
  }

  /** Makes a Role. */
  role(options: RoleOptions): Role {
    return this.#made('role', Role, options, rulesOf);
  }

  /** Grants a Role, or a ClusterRole within one namespace, to a ServiceAccount. */
  roleBinding(options: RoleBindingOptions): RoleBinding {
    return this.#made('roleBinding', RoleBinding, options, roleBindingBody);
  }

  /** Grants a ClusterRole to a ServiceAccount. */
  clusterRoleBinding(options: ClusterRoleBindingOptions): ClusterRoleBinding {
    return this.#made('clusterRoleBinding', ClusterRoleBinding, options, clusterRoleBindingBody);
  }

  /** Makes a {@link clusterRoleBinding} with the operator's labels. */
  operatorClusterRoleBinding(options: ClusterRoleBindingOptions): ClusterRoleBinding {
    const method = 'operatorClusterRoleBinding';
    return this.#made(method, ClusterRoleBinding, options, clusterRoleBindingBody);
  }

  /** Makes a ServiceAccount. */
  serviceAccount(options: ServiceAccountOptions): ServiceAccount {
    return this.#made('serviceAccount', ServiceAccount, options, accountBody);
  }

  /** Makes a ServiceAccount with the operator's labels. */
  operatorServiceAccount(options: ServiceAccountOptions): ServiceAccount {
    return this.#made('operatorServiceAccount', ServiceAccount, options, accountBody);
  }

  /** Makes the object of a method, with the operator's labels if the name of the method begins with `operator`. */
  #made<T extends KubernetesObject, O extends LabelledOptions>(
    method: BuilderMethod,
    type: ResourceType<T>,
    options: O,
    bodyOf: (options: O, labels: TextMap) => object,
  ): T {
    checkOptions(method, options);
    const own = method.startsWith('operator') ? this.#operator : this.#common;
    const labels = { ...own, ...options.labels, ...options.matchLabels };
    return newObject(type, options, { labels, body: bodyOf(options, labels) });
  }
}

type LabelledOptions = NamespacedObjectOptions & Pick<ServiceOptions, 'matchLabels'>;

/** Narrows the type: the callers' options have a required `spec`. */
function specified<T extends { spec?: unknown }>(object: T): T & Specified<T> {
  return object as T & Specified<T>;
}

function rulesOf({ rules }: ClusterRoleOptions): object {
  return { rules };
}

function accountBody({
  automountServiceAccountToken,
  imagePullSecrets,
}: ServiceAccountOptions): object {
  return {
    automountServiceAccountToken,
    imagePullSecrets: imagePullSecrets?.map((name) => ({ name })),
  };
}

function checkedLabels(option: string, labels: TextMap): TextMap {
  const problem = labelsProblem(labels);
  if (problem === undefined) return { ...labels };
  throw new OperatorError('InvalidOption', `ResourceBuilder: ${option}: ${problem}`);
}
