import type { V1Container, V1Node, V1Pod, V1PodSpec } from '@kubernetes/client-node';
import pick from 'lodash/pick.js';
import type { FieldErrors } from '../../crd/internal.js';
import { compareQuantities, deepEqual, withoutMembers } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { forbidden } from '../status-error.js';
import type { PartRules, ServerView } from './kind-rules.js';
import { checkLimitRanges } from './limit-ranger.js';
import { checkQuotas } from './quota.js';
import { podRequests, qosClassOf } from './pod-resources.js';
import { quantityNumber } from './resources.js';

type Pod = Wire<V1Pod>;
type PodSpec = Wire<V1PodSpec>;
type Container = Wire<V1Container>;
type Resources = Container['resources'];

/** A node, with a field that the client's types lack. */
type Node = Wire<V1Node> & { readonly status?: { readonly declaredFeatures?: readonly string[] } };
type Amounts = Readonly<Record<string, string>>;
type List = 'containers' | 'initContainers';

const lists = ['containers', 'initContainers'] as const;

/** The annotation of the mirror of a static pod. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** Returns the containers of a list. The decoder sets a missing list to null, as Go does. */
function listOf(spec: PodSpec | undefined, list: List): readonly Container[] {
  return (spec?.[list] as readonly Container[] | null | undefined) ?? [];
}

/**
 * Returns the old spec with the new resources. If containers were added or removed, returns the new spec and status:
 * the validation then rejects them.
 */
function writtenPart({ spec, status }: Pod, { spec: old }: Pod): ReturnType<PartRules['written']> {
  if (spec === undefined || old === undefined) return {};
  if (lists.some((list) => listOf(spec, list).length !== listOf(old, list).length)) {
    return { spec, status };
  }
  return { spec: resizedSpec(spec, old) };
}

function resizedSpec(spec: PodSpec, old: PodSpec): object {
  const { resources } = spec;
  return {
    ...withoutMembers(old, 'resources'),
    ...lists.map((list) => resizedList(list, spec, old)).reduce((one, two) => ({ ...one, ...two })),
    ...(resources !== undefined && { resources }),
  };
}

function resizedList(list: List, spec: PodSpec, old: PodSpec): object {
  const [next, before] = [listOf(spec, list), listOf(old, list)];
  if (before.length === 0) return {};
  const isReordered = before.some(({ name }, index) => name !== next[index]?.name);
  if (isReordered) return { [list]: next };
  return { [list]: before.map((container, index) => resizedContainer(next[index], container)) };
}

function resizedContainer(next: Container | undefined, old: Container): object {
  const rest = withoutMembers(old, 'resources', 'resizePolicy');
  return { ...rest, ...pick(next, 'resources', 'resizePolicy') };
}

/** Returns why a pod cannot be resized at all. */
function obstacleOf({ metadata, spec }: Pod): string | undefined {
  if (metadata?.annotations?.[mirrorAnnotation] !== undefined) {
    return 'static pods cannot be resized';
  }
  return spec?.os?.name === 'windows' ? 'windows pods cannot be resized' : undefined;
}

/** Checks that a resize changes CPU and memory only, and keeps the quality of service class of the pod. */
function validateResize(pod: Pod, old: Pod, errors: FieldErrors): void {
  const [spec, before] = [pod.spec, old.spec];
  if (spec === undefined || before === undefined) return;
  const { qosClass = qosClassOf(before) } = old.status ?? {};
  if (qosClass !== qosClassOf(spec)) {
    const shown = pod.status?.qosClass ?? '';
    errors.invalid('spec', shown, 'Pod QOS Class may not change as a result of resizing');
  }
  if (!isSupported(old)) errors.forbidden('spec', 'Pod running on node without support for resize');
  validatePodLevel(spec, before, errors);
  if (!validateOrder(spec, before, errors)) return;
  for (const list of ['initContainers', 'containers'] as const) {
    for (const [index, { resources }] of listOf(before, list).entries()) {
      const field = `spec.${list}[${index}].resources`;
      validateKept(listOf(spec, list)[index]?.resources, resources, errors.at(field));
    }
  }
  for (const [index, container] of listOf(before, 'containers').entries()) {
    if (isOnlyResized(listOf(spec, 'containers')[index], container)) continue;
    errors.forbidden('spec', 'only cpu and memory resources are mutable');
  }
  validateInitContainers(spec, before, errors);
}

/** Returns whether the kubelet of a running pod reports resources. Older kubelets resize nothing. */
function isSupported({ status }: Pod): boolean {
  const running = status?.containerStatuses?.find(({ state }) => state?.running !== undefined);
  return running === undefined || running.resources !== undefined;
}

function isSet(resources: Resources): boolean {
  return Object.keys({ ...resources?.requests, ...resources?.limits }).length > 0;
}

/** Checks a change of the resources of the whole pod. */
function validatePodLevel(
  { resources }: PodSpec,
  { resources: old }: PodSpec,
  errors: FieldErrors,
): void {
  if (!isSet(resources) && !isSet(old)) return;
  if (old !== undefined && resources === undefined) {
    errors.forbidden('spec.resources', 'pod-level resources cannot be removed');
    return;
  }
  for (const list of ['requests', 'limits'] as const) {
    if (!isRemoved(resources?.[list], old?.[list])) continue;
    errors.forbidden(`spec.resources.${list}`, `pod-level resource ${list} cannot be removed`);
  }
  if (deepEqual(otherResources(resources), otherResources(old))) return;
  errors.forbidden('spec', 'only cpu and memory resources are mutable at pod-level');
}

/** Returns requests and limits without CPU and memory. */
function otherResources(resources: Resources): object {
  const others = (amounts: Amounts = {}): object => withoutMembers(amounts, 'cpu', 'memory');
  return { requests: others(resources?.requests), limits: others(resources?.limits) };
}

function isRemoved(amounts: Amounts = {}, old: Amounts = {}): boolean {
  return Object.keys(old).some((name) => !Object.hasOwn(amounts, name));
}

/** Checks that the containers are the same, in the same order. */
function validateOrder(spec: PodSpec, old: PodSpec, errors: FieldErrors): boolean {
  const before = errors.causes.length;
  for (const list of lists) {
    const [next, kept] = [listOf(spec, list), listOf(old, list)];
    if (next.length !== kept.length) {
      errors.forbidden(`spec.${list}`, `${list} may not be added or removed on resize`);
      continue;
    }
    for (const [index, { name }] of kept.entries()) {
      if (next[index]?.name === name) continue;
      const why = `${list} may not be renamed or reordered on resize`;
      errors.forbidden(`spec.${list}[${index}].name`, why);
    }
  }
  return errors.causes.length === before;
}

function validateKept(resources: Resources, old: Resources, errors: FieldErrors): void {
  for (const list of ['requests', 'limits'] as const) {
    if (!isRemoved(resources?.[list], old?.[list])) continue;
    errors.forbidden(list, `resource ${list} cannot be removed`);
  }
}

/** Returns whether a container differs from `old` in CPU and memory only. */
function isOnlyResized(container: Container | undefined, old: Container): boolean {
  const rest = (one: Container | undefined): object => ({
    ...withoutMembers(one ?? {}, 'resources'),
    ...otherResources(one?.resources),
  });
  // As on the real server: before the comparison, the new container loses its claims, but the old one does not.
  return deepEqual(rest(container), rest(old)) && (old.resources?.claims ?? []).length === 0;
}

function validateInitContainers(spec: PodSpec, old: PodSpec, errors: FieldErrors): void {
  for (const [index, container] of listOf(old, 'initContainers').entries()) {
    const next = listOf(spec, 'initContainers')[index];
    const field = `spec.initContainers[${index}]`;
    if (!isOnlyResized(next, container)) {
      const why = 'only cpu and memory resources for init or sidecar containers are mutable';
      errors.forbidden(field, why);
    }
    if (deepEqual(next, container) || next?.restartPolicy === 'Always') continue;
    for (const { restartPolicy } of next?.resizePolicy ?? []) {
      if (restartPolicy !== 'RestartContainer') continue;
      const why =
        'non-sidecar init containers with a resize policy of RestartContainer cannot be resized';
      errors.forbidden(field, why);
    }
  }
}

/** Checks that the node of a resized pod has the features and the resources that the resize needs. */
function checkNode({ metadata = {}, spec }: Pod, old: Pod, server: ServerView): void {
  const { nodeName = '' } = spec ?? {};
  if (spec === undefined || nodeName === '' || deepEqual(spec, old.spec)) return;
  const subject = { group: '', plural: 'pods', name: metadata.name };
  const node = server.find('nodes', nodeName) as Node | undefined;
  if (node === undefined) throw forbidden(subject, `node "${nodeName}" not found`);
  const missing = featuresOf(spec, old.spec).filter(
    (feature) => !(node.status?.declaredFeatures ?? []).includes(feature),
  );
  if (missing.length > 0) {
    const why = `pod update requires features ${missing.join(', ')} which are not available on node "${nodeName}"`;
    throw forbidden(subject, why);
  }
  const { 'kubernetes.io/os': system = 'linux' } = node.metadata?.labels ?? {};
  if (system !== 'linux') {
    const why = `pod resize is only supported on linux nodes, node "${nodeName}" is "${system}"`;
    throw forbidden(subject, why, [{ reason: 'UnsupportedPlatform' }]);
  }
  const excess = excessOf(podRequests(spec), node.status?.allocatable ?? {});
  if (excess.length === 0) return;
  const why = `node didn't have enough allocatable resources: ${excess.join('; ')}`;
  throw forbidden(subject, why, [{ reason: 'NodeCapacity' }]);
}

/** Returns the features that a node must declare for a resize. */
function featuresOf(spec: PodSpec, old: PodSpec | undefined): string[] {
  const isInit = listOf(old, 'initContainers').some(
    ({ restartPolicy, resources }, index) =>
      restartPolicy !== 'Always' &&
      !deepEqual(resources, listOf(spec, 'initContainers')[index]?.resources),
  );
  const isPodLevel = !deepEqual(spec.resources, old?.resources);
  return [
    ...(isPodLevel ? ['InPlacePodLevelResourcesVerticalScaling'] : []),
    ...(isInit ? ['InPlacePodVerticalScalingInitContainers'] : []),
  ];
}

function excessOf(requests: Amounts, allocatable: Amounts): string[] {
  return (['cpu', 'memory'] as const).flatMap((name) => {
    const { [name]: request = '0' } = requests;
    const { [name]: most = '0' } = allocatable;
    if (compareQuantities(request, most) <= 0) return [];
    const shown = (amount: string): number =>
      Math.ceil(quantityNumber(amount) * (name === 'cpu' ? 1000 : 1));
    return [`${name}, requested: ${shown(request)}, allocatable: ${shown(most)}`];
  });
}

/** The rules of the subresource `resize`. */
export const resizeRules: PartRules = {
  written: writtenPart,
  obstacle: obstacleOf,
  validateUpdate: validateResize,
  admitUpdate: (object, old, server) => {
    checkLimitRanges('pods', object, server);
    checkNode(object, old, server);
    checkQuotas('pods', object, server, old);
  },
};
