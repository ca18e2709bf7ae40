import type {
  V1Container,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodSpec,
  V1ResourceQuota,
  V1Service,
} from '@kubernetes/client-node';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  subtractQuantities,
} from '../../object/index.js';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import { forbidden } from '../status-error.js';
import type { ServerView } from './kind-rules.js';
import { isSidecar, largestOf, podLimits, podRequests, qosClassOf } from './pod-resources.js';
import { countedCollections } from './resources.js';

type Quota = Wire<V1ResourceQuota>;
type Pod = Wire<V1Pod>;
type PodSpec = Wire<V1PodSpec>;
type Container = Wire<V1Container>;
type Usage = Readonly<Record<string, string>>;

/** Returns the objects of a collection, such as `pods` or `apps/deployments`. */
type Objects = (collection: string) => Iterable<UnstructuredObject>;

/** Compute resources that every container of a Pod must specify if a quota limits them. */
const mustBeStated = new Set(
  ['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
);

/**
 * Checks a create, or an update of `old`, against the ResourceQuotas of its namespace.
 * @throws StatusError 403: a quota would be exceeded, or a Pod lacks a request or limit that a quota counts.
 */
export function checkQuotas(
  collection: string,
  object: UnstructuredObject,
  server: ServerView,
  old?: UnstructuredObject,
): void {
  const { namespace, name } = object.metadata;
  for (const stored of server.all('resourcequotas')) {
    if (namespace === undefined || stored.metadata.namespace !== namespace) continue;
    const quota = stored as Quota;
    const problem = quotaProblem(quota, { collection, object, old }, (of) => server.all(of));
    if (problem === undefined) continue;
    const [plural = '', group = ''] = collection.split('/').reverse();
    throw forbidden({ group, plural, name }, problem);
  }
}

interface Charged {
  readonly collection: string;
  readonly object: UnstructuredObject;
  readonly old: UnstructuredObject | undefined;
}

function quotaProblem(
  quota: Quota,
  { collection, object, old }: Charged,
  objects: Objects,
): string | undefined {
  const name = quota.metadata?.name ?? '';
  const { hard = {} } = quota.spec ?? {};
  if (!isInScope(quota, collection, object)) return undefined;
  const delta = increaseOf(usageOf(collection, object), old && usageOf(collection, old));
  const unstated = collection === 'pods' ? unstatedResources(hard, object) : [];
  if (unstated.length > 0) return `failed quota: ${name}: must specify ${unstated.join('; ')}`;
  const counted = Object.keys(hard).filter((resource) => delta[resource] !== undefined);
  if (counted.length === 0) return undefined;
  const used = quotaUsage(quota, objects);
  const exceeded = counted
    .filter((resource) => {
      const after = addQuantities(used[resource] ?? '0', delta[resource] ?? '0');
      return compareQuantities(after, hard[resource] ?? '0') > 0;
    })
    .toSorted();
  if (exceeded.length === 0) return undefined;
  const shown = (usage: Usage): string =>
    exceeded.map((resource) => `${resource}=${usage[resource] ?? '0'}`).join(',');
  return `exceeded quota: ${name}, requested: ${shown(delta)}, used: ${shown(used)}, limited: ${shown(hard)}`;
}

/**
 * Returns by how much a use exceeds the old one. An exceeded quota still accepts an object that uses no more than
 * before.
 */
function increaseOf(usage: Usage, old: Usage = {}): Usage {
  const increases = Object.entries(usage).map(
    ([name, amount]) => [name, subtractQuantities(amount, old[name] ?? 0)] as const,
  );
  return Object.fromEntries(
    increases
      .filter(([, { unscaled }]) => unscaled > 0n)
      .map(([name, increase]) => [name, formatQuantity(increase)]),
  );
}

/** Returns the compute resources that a quota limits, each with the names of the containers that do not specify it. */
function unstatedResources(hard: Usage, { spec }: Pod): string[] {
  const { requests, limits } = spec?.resources ?? {};
  if (Object.keys({ ...requests, ...limits }).length > 0) return [];
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return Object.keys(hard)
    .filter((resource) => mustBeStated.has(resource))
    .toSorted()
    .flatMap((resource) => {
      const member = resource.startsWith('limits.') ? 'limits' : 'requests';
      const amount = resource.replace(/^(?:limits|requests)\./, '');
      const lacking = containers.filter(
        ({ resources }) => resources?.[member]?.[amount] === undefined,
      );
      const names = lacking.map((container) => container.name).toSorted();
      return names.length === 0 ? [] : [`${resource} for: ${names.join(',')}`];
    });
}

/** Returns the current use of each resource that a quota limits. */
export function quotaUsage(quota: Quota, objects: Objects): Usage {
  const namespace = quota.metadata?.namespace;
  const { hard = {} } = quota.spec ?? {};
  const used: Record<string, string> = {};
  for (const resource of Object.keys(hard)) used[resource] = '0';
  for (const collection of new Set(Object.keys(hard).map(collectionOf))) {
    for (const object of objects(collection)) {
      if (object.metadata.namespace !== namespace) continue;
      if (!isInScope(quota, collection, object)) continue;
      for (const [resource, amount] of Object.entries(usageOf(collection, object))) {
        const before = used[resource];
        if (before === undefined) continue;
        used[resource] = formatQuantity(addQuantities(amount, before));
      }
    }
  }
  return used;
}

/** Returns the collection whose objects use a resource of a quota. */
function collectionOf(resource: string): string {
  if (resource.startsWith('count/')) {
    const [plural = '', ...group] = resource.slice('count/'.length).split('.');
    return group.length === 0 ? plural : `${group.join('.')}/${plural}`;
  }
  if (resource.startsWith('services.')) return 'services';
  if (resource.includes('storageclass.storage.k8s.io') || resource === 'requests.storage') {
    return 'persistentvolumeclaims';
  }
  return countedCollections.has(resource) ? resource : 'pods';
}

function usageOf(collection: string, object: UnstructuredObject): Usage {
  const [plural = '', group = ''] = collection.split('/').reverse();
  const count = { [group === '' ? `count/${plural}` : `count/${plural}.${group}`]: '1' };
  switch (collection) {
    case 'pods':
      return { ...count, ...podUsage(object) };
    case 'persistentvolumeclaims':
      return { ...count, ...claimUsage(object) };
    case 'services':
      return { ...count, ...serviceUsage(object) };
    default:
      return countedCollections.has(collection) ? { ...count, [collection]: '1' } : count;
  }
}

function podUsage({ spec, status }: Pod): Usage {
  // Finished pods keep their object, but no resources.
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return {};
  const usage: Record<string, string> = { pods: '1' };
  if (spec === undefined) return usage;
  const counted = countedSpec(spec, status);
  for (const [name, amount] of Object.entries(podRequests(counted))) {
    usage[`requests.${name}`] = amount;
    usage[name] = amount;
  }
  for (const [name, amount] of Object.entries(podLimits(counted))) usage[`limits.${name}`] = amount;
  return usage;
}

/**
 * Returns the spec with the resources that a quota counts until a resize is done: for each running container, the
 * larger amounts of its spec and its status. If the resize is infeasible, only the amounts of the status.
 */
function countedSpec(spec: PodSpec, status: Pod['status']): PodSpec {
  const { containerStatuses = [], initContainerStatuses = [], conditions = [] } = status ?? {};
  const statuses = new Map(
    [...containerStatuses, ...initContainerStatuses].map((each) => [each.name, each]),
  );
  const pending = conditions.find(({ type }) => type === 'PodResizePending');
  const counted = (container: Container): Container => {
    const { resources: given, allocatedResources = {} } = statuses.get(container.name) ?? {};
    if (given === undefined) return container;
    const wanted = pending?.reason === 'Infeasible' ? {} : container.resources;
    const requests = largestOf(wanted?.requests, given.requests, allocatedResources);
    const limits = largestOf(wanted?.limits, given.limits);
    return { ...container, resources: { ...container.resources, requests, limits } };
  };
  const { containers, initContainers } = spec;
  return {
    ...spec,
    containers: containers.map(counted),
    ...(initContainers && {
      initContainers: initContainers.map((each) => (isSidecar(each) ? counted(each) : each)),
    }),
  };
}

function claimUsage({ spec }: Wire<V1PersistentVolumeClaim>): Usage {
  const storage = spec?.resources?.requests?.['storage'] ?? '0';
  const ofClass = `${spec?.storageClassName ?? ''}.storageclass.storage.k8s.io`;
  return {
    persistentvolumeclaims: '1',
    'requests.storage': storage,
    [`${ofClass}/persistentvolumeclaims`]: '1',
    [`${ofClass}/requests.storage`]: storage,
  };
}

function serviceUsage({ spec }: Wire<V1Service>): Usage {
  const { type = 'ClusterIP', ports = [], allocateLoadBalancerNodePorts = true } = spec ?? {};
  const hasNodePorts =
    type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts);
  return {
    services: '1',
    ...(hasNodePorts && { 'services.nodeports': String(ports.length) }),
    ...(type === 'LoadBalancer' && { 'services.loadbalancers': '1' }),
  };
}

/** Scopes select pods; a quota with scopes counts nothing else. */
function isInScope({ spec }: Quota, collection: string, object: UnstructuredObject): boolean {
  const scopes = (spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' }));
  const all = [...scopes, ...(spec?.scopeSelector?.matchExpressions ?? [])];
  if (all.length === 0) return true;
  if (collection !== 'pods') return false;
  return all.every((scope) => isInPodScope(scope, object as Pod));
}

interface Scope {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

function isInPodScope({ scopeName, operator, values = [] }: Scope, { spec }: Pod): boolean {
  const isBestEffort = spec === undefined || qosClassOf(spec) === 'BestEffort';
  const { priorityClassName = '' } = spec ?? {};
  switch (scopeName) {
    case 'Terminating':
      return spec?.activeDeadlineSeconds !== undefined;
    case 'NotTerminating':
      return spec?.activeDeadlineSeconds === undefined;
    case 'BestEffort':
      return isBestEffort;
    case 'NotBestEffort':
      return !isBestEffort;
    case 'PriorityClass':
      if (operator === 'Exists') return priorityClassName !== '';
      if (operator === 'DoesNotExist') return priorityClassName === '';
      return values.includes(priorityClassName) === (operator === 'In');
    default:
      return namesOtherNamespaces(spec);
  }
}

/** Returns whether a pod is in the scope CrossNamespacePodAffinity. */
function namesOtherNamespaces(spec: Pod['spec']): boolean {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {};
  return [podAffinity, podAntiAffinity].some((affinity) => {
    const terms = [
      ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
        ({ podAffinityTerm }) => podAffinityTerm,
      ),
    ];
    return terms.some(
      ({ namespaces = [], namespaceSelector }) =>
        namespaces.length > 0 || namespaceSelector !== undefined,
    );
  });
}
