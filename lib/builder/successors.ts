import isEmpty from 'lodash/isEmpty.js';
import {
  deepEqual,
  groupOfType,
  isControlledBy,
  isForbidden,
  describeObject,
  DaemonSet,
  Deployment,
  Service,
  StatefulSet,
  referenceTo,
  rolloutStatus,
} from '../object/index.js';
import {
  isKind,
  listOfKind,
  podReferencesOf,
  podTemplateIn,
  readObject,
  rollsPods,
} from '../apply/index.js';
import type { Candidate } from '../apply/index.js';
import type {
  KubernetesObject,
  LabelSelector,
  UnstructuredObject,
  ResourceType,
  TypeReference,
} from '../object/index.js';
import type { Chain, ChainedObject } from './chain.js';
import type { RunContext } from './context.js';
import { isTaken, selectedBy, selects } from './pod-selectors.js';
import type { SelectingObject } from './pod-selectors.js';
import { prepareObject } from './run.js';

// Time for the control plane and the nodes to update the endpoints of a changed Service.
const endpointsMs = 5_000;

/** Reason why a change of an object, or its deletion, has to wait. */
export interface Wait {
  readonly reason: string;
  readonly requeueAfterMs?: number;
}

/** Returns the reason why a Service has to stay as it is; undefined if it may change, and for other objects. */
export async function reasonToStay(
  context: RunContext,
  chain: Chain,
  object: SelectingObject,
): Promise<string | undefined> {
  return isKind(object.live, Service) ? reasonOfService(context, chain, object) : undefined;
}

/**
 * Returns the reason why a Service has to keep its selector; undefined if it may change. A Service that moves to
 * another workload keeps its selector until that workload is rolled out. The governing Service of a StatefulSet, which
 * its pods may need, moves when the first pod is ready. Without ready pods at the old selector, the Service moves at
 * once. A selector that another manager has set is drift. It is repaired at once if it selects no ready pods, else as
 * soon as the workload has a ready pod.
 */
async function reasonOfService(
  context: RunContext,
  chain: Chain,
  { chained, live }: SelectingObject,
): Promise<string | undefined> {
  const { selector, publishNotReadyAddresses } = desiredSpecOf(context, chain, chained);
  const { selector: selected = {} } = serviceSpecOf(live);
  if (deepEqual(selector, selected) || publishNotReadyAddresses === true) return undefined;
  const edited = isTaken(context, live, 'selector');
  for (const successor of selectedBy(chain, chained, podSelector(selector))) {
    const found = await readObject(context, successor.type, successor.ref);
    const isThere = found !== undefined && selects(podSelector(selector), found);
    if (isThere && (rolloutStatus(found).complete || isGoverned(found, live))) continue;
    if (edited && isThere && readyPods(found) > 0) continue;
    const former = edited ? undefined : found;
    const present = await presentWorkload(context, live, former);
    if (present === undefined) return undefined;
    return `moves from ${describeObject(present)} once ${describeObject(successor.ref)} is rolled out`;
  }
  return undefined;
}

/**
 * Returns the orphaned workloads that are still needed, with the reason. A workload is needed while a chained
 * Service selects its pods, or did so a moment ago. It is also needed until a workload of another kind with
 * the same name is rolled out. An orphan that holds what its successor needs (a claim or a host port) is
 * pruned first, since the successor could never roll out.
 */
export async function workloadsInUse(
  context: RunContext,
  chain: Chain,
  orphans: readonly Candidate[],
): Promise<ReadonlyMap<Candidate, Wait & { readonly live: UnstructuredObject }>> {
  const uses = new Map<Candidate, Wait & { readonly live: UnstructuredObject }>();
  for (const candidate of orphans.filter(({ object }) => rollsPods(object))) {
    const live = await readObject(context, candidate.type, referenceTo(candidate.object));
    if (live === undefined || readyPods(live) === 0) continue;
    const wait =
      (await waitOfNamesake(context, chain, live)) ?? (await waitOfServices(context, chain, live));
    if (wait !== undefined) uses.set(candidate, { ...wait, live });
  }
  return uses;
}

async function waitOfNamesake(
  context: RunContext,
  chain: Chain,
  live: UnstructuredObject,
): Promise<Wait | undefined> {
  const { name, namespace } = live.metadata;
  const namesakes = chain.objects.filter(
    ({ ref }) => rollsPods(ref) && ref.name === name && ref.namespace === namespace,
  );
  return waitForAny(context, namesakes, live);
}

async function waitOfServices(
  context: RunContext,
  chain: Chain,
  orphan: UnstructuredObject,
): Promise<Wait | undefined> {
  const { namespace } = orphan.metadata;
  const services = chain.objects.filter(
    ({ ref }) => isKind(ref, Service) && ref.namespace === namespace,
  );
  for (const service of services) {
    const live = await readObject(context, service.type, service.ref);
    if (live === undefined) continue;
    const { selector } = desiredSpecOf(context, chain, service);
    const successors = selectedBy(chain, service, podSelector(selector));
    if (successors.length === 0 || holdsWhatTheyNeed(orphan, successors)) continue;
    if (!selects(podSelector(serviceSpecOf(live).selector), orphan)) {
      const leftMs = movedAt(live, context) + endpointsMs - context.settings.clock.now();
      if (leftMs <= 0) continue;
      // `movedAt` is the server's time. The limit prevents a wait of hours if the local clock is behind.
      const requeueAfterMs = Math.min(leftMs, endpointsMs);
      return { reason: `${describeObject(live)} has just moved to other pods`, requeueAfterMs };
    }
    const wait = await waitForAny(context, successors, orphan);
    if (wait !== undefined) return wait;
    if (!deepEqual(selector, serviceSpecOf(live).selector)) {
      return { reason: `${describeObject(live)} still selects its pods` };
    }
  }
  return undefined;
}

async function waitForAny(
  context: RunContext,
  successors: readonly ChainedObject[],
  orphan: UnstructuredObject,
): Promise<Wait | undefined> {
  if (holdsWhatTheyNeed(orphan, successors)) return undefined;
  for (const { type, ref } of successors) {
    const live = await readObject(context, type, ref);
    if (live !== undefined && rolloutStatus(live).complete) continue;
    return { reason: `${describeObject(ref)}, which takes its place, is not rolled out` };
  }
  return undefined;
}

// The kinds of workloads that are searched in addition to those in the chain.
const rolling: readonly ResourceType<KubernetesObject>[] = [Deployment, StatefulSet, DaemonSet];

/**
 * Returns a workload with ready pods that `service` selects; undefined if there is no such workload. It is a workload
 * of the owner, or any workload if the owner is about to adopt the Service. In the second case it is read from the
 * server, because the cache may leave out its kind or its labels.
 */
async function presentWorkload(
  { client, settings }: RunContext,
  service: UnstructuredObject,
  successor: UnstructuredObject | undefined,
): Promise<UnstructuredObject | undefined> {
  const { selector } = serviceSpecOf(service);
  // The Service still selects pods of `successor` that its rollout has not replaced yet.
  if (successor !== undefined && !rolloutStatus(successor).complete && readyPods(successor) > 0) {
    return successor;
  }
  const { namespace } = service.metadata;
  const { signal, owner, owns, onlyOwned } = settings;
  const isOwn = isControlledBy(service, owner);
  const reader = isOwn ? client : (settings.client.live ?? client);
  for (const type of rolling) {
    // Without `onlyOwned`, an earlier chain may have had a workload of any kind.
    if (isOwn && onlyOwned && owns?.some((each) => isSameKind(each, type)) !== true) continue;
    const options = { namespace, ...(isOwn && { controllerUid: owner.metadata.uid }), signal };
    const found = await listOfKind(reader, type, options).catch((error: unknown) => {
      if (isForbidden(error)) return [];
      throw error;
    });
    const present = found.find(
      (each) => readyPods(each) > 0 && selects(podSelector(selector), each),
    );
    if (present !== undefined) return present;
  }
  return undefined;
}

function isSameKind(
  one: TypeReference<KubernetesObject>,
  other: TypeReference<KubernetesObject>,
): boolean {
  return one.kind === other.kind && groupOfType(one) === groupOfType(other);
}

type Labels = Readonly<Record<string, string>>;

interface ServiceSpec {
  readonly selector?: Labels;
  readonly publishNotReadyAddresses?: boolean;
}

function serviceSpecOf(service: UnstructuredObject): ServiceSpec {
  return service['spec'] ?? {};
}

function desiredSpecOf({ settings }: RunContext, chain: Chain, chained: ChainedObject) {
  const { selector = {}, ...spec } = serviceSpecOf(
    prepareObject(settings, chain, chained).complete,
  );
  return { ...spec, selector };
}

/**
 * Returns the selector of a Service as a LabelSelector; undefined for a selector without labels, which selects no pods.
 */
function podSelector(labels: Labels = {}): LabelSelector | undefined {
  return isEmpty(labels) ? undefined : { matchLabels: { ...labels } };
}

function readyPods({ status }: UnstructuredObject): number {
  const counts = (status ?? {}) as { readonly readyReplicas?: number; numberReady?: number };
  return counts.readyReplicas ?? counts.numberReady ?? 0;
}

/** Returns true if `service` is the governing Service of a StatefulSet with a ready pod. */
function isGoverned(workload: UnstructuredObject, service: UnstructuredObject): boolean {
  const { serviceName } = (workload['spec'] ?? {}) as { readonly serviceName?: string };
  return serviceName === service.metadata.name && readyPods(workload) > 0;
}

/** Returns the time when the operator last changed the Service; -Infinity if it was not changed after creation. */
function movedAt({ metadata }: UnstructuredObject, { settings }: RunContext): number {
  const { managedFields = [], creationTimestamp } = metadata;
  const ours = managedFields.find(
    ({ manager, operation }) => manager === settings.controllerName && operation === 'Apply',
  );
  if (ours?.time === undefined || ours.time === creationTimestamp) return -Infinity;
  return Date.parse(ours.time);
}

function holdsWhatTheyNeed(
  orphan: UnstructuredObject,
  successors: readonly ChainedObject[],
): boolean {
  const held = new Set(exclusiveOf(orphan));
  return successors.some(({ link }) => exclusiveOf(link.object).some((each) => held.has(each)));
}

/** Returns the claims and host ports of a workload, which its pods may hold exclusively. */
function exclusiveOf(workload: UnstructuredObject): readonly string[] {
  const template = podTemplateIn(workload);
  if (template === undefined) return [];
  const { containers = [], hostNetwork = false } = template.spec ?? {};
  const ports = containers.flatMap((container) => container.ports ?? []);
  const hostPorts = ports.flatMap(({ hostPort, containerPort }) =>
    hostNetwork ? containerPort : (hostPort ?? []),
  );
  return [
    ...podReferencesOf(template).claims.map((claim) => `claim ${claim}`),
    ...hostPorts.map((port) => `port ${port}`),
  ];
}
