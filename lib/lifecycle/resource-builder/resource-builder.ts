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
import { OperatorError, refuseUnknownOptions } from '../../system/index.js';
import {
  clusterRoleBindingBody,
  roleBindingBody,
  newContainer,
  deploymentBody,
  newObject,
  plain,
} from './object-bodies.js';
import type { DeploymentContainer } from './object-bodies.js';
import { checkOptions } from './object-options.js';
import type {
  AggregateClusterRoleOptions,
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
    checkOptions('deployment', options);
    return newDeployment(options, this.withCommonLabels(options.labels));
  }

  /** Makes a {@link deployment} with the operator's labels. Its selector is still `matchLabels` alone. */
  operatorDeployment(options: DeploymentOptions): Deployment & Specified<Deployment> {
    checkOptions('operatorDeployment', options);
    return newDeployment(options, this.withOperatorLabels(options.labels));
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
    checkOptions('service', options);
    const { matchLabels, labels, spec } = options;
    const all = this.withCommonLabels({ ...labels, ...matchLabels });
    const body = plain<Specified<Service>>({ spec: { ...spec, selector: matchLabels } });
    return { ...newObject(Service, options, { labels: all }), ...body };
  }

  /** Makes a Secret, with its strings encoded. */
  secret(options: SecretOptions): Secret {
    checkOptions('secret', options);
    const { type, immutable, labels } = options;
    const data = encodedData(options);
    const body = { type, immutable, ...(Object.keys(data).length > 0 && { data }) };
    return newObject(Secret, options, { labels: this.withCommonLabels(labels), body });
  }

  /** Makes a ConfigMap. */
  configMap(options: ConfigMapOptions): ConfigMap {
    checkOptions('configMap', options);
    const { data, binaryData, immutable, labels } = options;
    const body = { data, binaryData, immutable };
    return newObject(ConfigMap, options, { labels: this.withCommonLabels(labels), body });
  }

  /** Makes a ClusterRole. */
  clusterRole(options: ClusterRoleOptions): ClusterRole {
    checkOptions('clusterRole', options);
    const labels = this.withCommonLabels(options.labels);
    return newObject(ClusterRole, options, { labels, body: { rules: options.rules } });
  }

  /** Makes a ClusterRole with the operator's labels. */
  operatorClusterRole(options: ClusterRoleOptions): ClusterRole {
    checkOptions('operatorClusterRole', options);
    const labels = this.withOperatorLabels(options.labels);
    return newObject(ClusterRole, options, { labels, body: { rules: options.rules } });
  }

  /** Makes a ClusterRole whose rules are aggregated to another, such as `view`. */
  aggregateClusterRole(options: AggregateClusterRoleOptions): ClusterRole {
    checkOptions('aggregateClusterRole', options);
    const aggregate = `rbac.authorization.k8s.io/aggregate-to-${options.aggregateTo}`;
    const labels = { ...this.withCommonLabels(options.labels), [aggregate]: 'true' };
    return newObject(ClusterRole, options, { labels, body: { rules: options.rules } });
  }

  /** Makes a Role. */
  role(options: RoleOptions): Role {
    checkOptions('role', options);
    const labels = this.withCommonLabels(options.labels);
    return newObject(Role, options, { labels, body: { rules: options.rules } });
  }

  /** Grants a Role, or a ClusterRole within one namespace, to a ServiceAccount. */
  roleBinding(options: RoleBindingOptions): RoleBinding {
    checkOptions('roleBinding', options);
    const labels = this.withCommonLabels(options.labels);
    return newObject(RoleBinding, options, { labels, body: roleBindingBody(options) });
  }

  /** Grants a ClusterRole to a ServiceAccount. */
  clusterRoleBinding(options: ClusterRoleBindingOptions): ClusterRoleBinding {
    checkOptions('clusterRoleBinding', options);
    const labels = this.withCommonLabels(options.labels);
    return newObject(ClusterRoleBinding, options, {
      labels,
      body: clusterRoleBindingBody(options),
    });
  }

  /** Makes a {@link clusterRoleBinding} with the operator's labels. */
  operatorClusterRoleBinding(options: ClusterRoleBindingOptions): ClusterRoleBinding {
    checkOptions('operatorClusterRoleBinding', options);
    const labels = this.withOperatorLabels(options.labels);
    return newObject(ClusterRoleBinding, options, {
      labels,
      body: clusterRoleBindingBody(options),
    });
  }

  /** Makes a ServiceAccount. */
  serviceAccount(options: ServiceAccountOptions): ServiceAccount {
    checkOptions('serviceAccount', options);
    return newServiceAccount(options, this.withCommonLabels(options.labels));
  }

  /** Makes a ServiceAccount with the operator's labels. */
  operatorServiceAccount(options: ServiceAccountOptions): ServiceAccount {
    checkOptions('operatorServiceAccount', options);
    return newServiceAccount(options, this.withOperatorLabels(options.labels));
  }
}

function newDeployment(
  options: DeploymentOptions,
  labels: TextMap,
): Deployment & Specified<Deployment> {
  const all = { ...labels, ...options.matchLabels };
  const body = plain<Specified<Deployment>>(deploymentBody(options, all));
  return { ...newObject(Deployment, options, { labels: all }), ...body };
}

function newServiceAccount(
  options: ServiceAccountOptions & NamespacedObjectOptions,
  labels: TextMap,
): ServiceAccount {
  const { automountServiceAccountToken, imagePullSecrets } = options;
  const body = {
    automountServiceAccountToken,
    imagePullSecrets: imagePullSecrets?.map((name) => ({ name })),
  };
  return newObject(ServiceAccount, options, { labels, body });
}

function checkedLabels(option: string, labels: TextMap): TextMap {
  const problem = labelsProblem(labels);
  if (problem === undefined) return { ...labels };
  throw new OperatorError('InvalidOption', `ResourceBuilder: ${option}: ${problem}`);
}
