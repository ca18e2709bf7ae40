import { nameRuleOf } from '../../apply/index.js';
import type { Lenient, PodSpec } from '../../apply/index.js';
import {
  describeObject,
  jsonCopy,
  RoleBinding,
  dns1123LabelProblem,
  labelsProblem,
  qualifiedNameProblem,
  apiVersionOf,
} from '../../object/index.js';
import type { KubernetesObject, ObjectMeta, ResourceType, Deployment } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import type {
  NamespacedObjectOptions,
  TextMap,
  DeploymentOptions,
  ContainerOptions,
  ClusterRoleBindingOptions,
  RoleBindingOptions,
} from './object-options.js';

/**
 * Makes an object of `type` from the metadata in `options`, `labels`, and `body`. The result is a copy;
 * undefined members are left out.
 * @throws OperatorError `InvalidObject`: the server would reject a name, label or annotation.
 */
export function newObject<T extends KubernetesObject>(
  type: ResourceType<T>,
  { name, namespace, annotations }: NamespacedObjectOptions,
  content: { readonly labels: TextMap; readonly body?: object },
): T {
  const { labels, body } = content;
  const metadata = {
    name,
    namespace,
    ...(Object.keys(labels).length > 0 && { labels }),
    annotations,
  };
  const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata, ...body };
  const made = plain<KubernetesObject>(object) as T;
  const badName = nameRuleOf(made)(name);
  const problem = badName === undefined ? metadataProblem(made.metadata) : `name ${badName}`;
  if (problem !== undefined) refuse(describeObject(made), problem);
  return made;
}

/** Makes a copy by JSON's rules: shares nothing, leaves out undefined members. */
function plain<T extends object>(value: Lenient<T>): T {
  const { kind = 'object', metadata } = value as Partial<KubernetesObject>;
  return jsonCopy(value as T, describeObject({ kind, name: metadata?.name ?? '' }));
}

/** @throws OperatorError `InvalidObject`: always; names `what` and the problem. */
function refuse(what: string, problem: string): never {
  throw new OperatorError('InvalidObject', `${what} can't be built: ${problem}`);
}

function metadataProblem({ namespace, labels = {}, annotations = {} }: ObjectMeta) {
  const badNamespace = namespace === undefined ? undefined : dns1123LabelProblem(namespace);
  if (badNamespace !== undefined) return `namespace ${badNamespace}`;
  const badLabel = labelsProblem(labels);
  if (badLabel !== undefined) return badLabel;
  for (const key of Object.keys(annotations)) {
    // The server validates the keys of annotations in lower case.
    const badKey = qualifiedNameProblem(key.toLowerCase());
    if (badKey !== undefined) return `annotation key ${JSON.stringify(key)}: ${badKey}`;
  }
  return undefined;
}

/** A container of a Deployment's Pods. */
export type DeploymentContainer = NonNullable<
  NonNullable<Deployment['spec']>['template']['spec']
>['containers'][number];

/**
 * Returns the `spec` of a Deployment with the labels `labels`, which its Pods get too.
 * @throws OperatorError `InvalidObject`: it would select all Pods, or none of its own.
 */
export function deploymentBody(options: DeploymentOptions, labels: TextMap): object {
  const { matchLabels, replicas = 1, podLabels, podAnnotations, spec } = options;
  const problem = selectorProblem(options);
  if (problem !== undefined) {
    refuse(describeObject({ kind: 'Deployment' }, options), problem);
  }
  const metadata = {
    labels: { ...labels, ...podLabels, ...matchLabels },
    annotations: podAnnotations,
  };
  return {
    spec: {
      ...spec,
      replicas,
      selector: { matchLabels },
      template: { metadata, spec: podSpecOf(options) },
    },
  };
}

function selectorProblem({ matchLabels, podLabels = {} }: DeploymentOptions): string | undefined {
  if (Object.keys(matchLabels).length === 0) return 'matchLabels: want at least one';
  const problem = labelsProblem(podLabels);
  return problem === undefined ? undefined : `podLabels: ${problem}`;
}

function podSpecOf({ podSpec, serviceAccount, nodePlacement = {} }: DeploymentOptions): PodSpec {
  const { nodeSelector, affinity, tolerations } = nodePlacement;
  return {
    ...podSpec,
    ...(serviceAccount !== undefined && { serviceAccountName: serviceAccount }),
    ...(nodeSelector !== undefined && { nodeSelector }),
    ...(affinity !== undefined && { affinity }),
    ...(tolerations !== undefined && { tolerations }),
  };
}

/**
 * Makes a container, as a copy of `options`.
 * @throws OperatorError `InvalidObject`: the name is invalid, or the image is missing.
 */
export function newContainer(options: ContainerOptions): DeploymentContainer {
  const { name, image } = options;
  const problem = dns1123LabelProblem(name);
  if (problem !== undefined) refuse(`container ${name}`, `name ${problem}`);
  if (image.trim() === '' || image !== image.trim()) {
    refuse(
      `container ${name}`,
      `image ${JSON.stringify(image)} must not be empty, or begin or end with spaces`,
    );
  }
  return plain<DeploymentContainer>(options);
}

const apiGroup = 'rbac.authorization.k8s.io';

/** @throws OperatorError `InvalidObject`: the namespace of the ServiceAccount is missing. */
export function roleBindingBody(options: RoleBindingOptions): object {
  const { namespace, roleRef, serviceAccount: name, serviceAccountNamespace = namespace } = options;
  if (serviceAccountNamespace === undefined) {
    const problem =
      'serviceAccountNamespace: it has to be given where the binding has no namespace';
    refuse(describeObject(RoleBinding, options), problem);
  }
  return bindingBody(roleRef, { name, namespace: serviceAccountNamespace });
}

export function clusterRoleBindingBody(options: ClusterRoleBindingOptions): object {
  const { clusterRole, serviceAccount: name, serviceAccountNamespace: namespace } = options;
  return bindingBody({ kind: 'ClusterRole', name: clusterRole }, { name, namespace });
}

interface Subject {
  readonly name: string;
  readonly namespace: string;
}

function bindingBody({ kind, name }: RoleBindingOptions['roleRef'], subject: Subject): object {
  return {
    roleRef: { apiGroup, kind, name },
    subjects: [{ kind: 'ServiceAccount', name: subject.name, namespace: subject.namespace }],
  };
}
