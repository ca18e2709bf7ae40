import isEqual from 'lodash/isEqual.js';
import { isKind, podReferencesOf, podTemplateIn, readObject, rollsPods } from '../apply/index.js';
import type { Candidate } from '../apply/index.js';
import { isForbidden, isNotFound } from '../object/api-error.js';
import { describeObject } from '../object/describe-object.js';
import { DaemonSet, Deployment, Service, StatefulSet } from '../object/kinds.js';
import type { KubernetesObject, UnstructuredObject } from '../object/kubernetes-object.js';
import { referenceTo } from '../object/object-reference.js';
import type { ResourceType } from '../object/resource-type.js';
import { rolloutStatus } from '../object/rollout-status.js';
import type { Chain, ChainedObject } from './chain.js';
import type { RunContext } from './context.js';
import { prepareObject } from './prepare-object.js';

// The control plane has moved the endpoints of a Service by then, and its nodes know.
const endpointsMs = 5_000;

/** Why something stays as it is. */
export interface Wait {
  readonly reason: string;
  readonly requeueAfterMs?: number;
}

/**
 * Why a Service has to go on selecting the pods that it selects; undefined: it may be changed. One that
 * moves to another workload stays until that is rolled out (the governing Service of a StatefulSet, which
 * its pods may need, until the first pod is ready), unless nothing is ready where it is.
 */
export async function reasonToStay(
  context: RunContext,
  chain: Chain,
  { chained, live }: { readonly chained: ChainedObject; readonly live: UnstructuredObject },
): Promise<string | undefined> {
  const { selector, publishNotReadyAddresses } = desiredSpecOf(context, chain, chained);
  const { selector: selected = {} } = serviceSpecOf(live);
  if (isEqual(selector, selected) || publishNotReadyAddresses === true) return undefined;
  for (const successor of selectedBy(chain, chained, selector)) {
    const found = await readObject(context, successor.type, successor.ref);
    const isThere = found !== undefined && selects(selector, found);
    if (isThere && (rolloutStatus(found).complete || isGoverned(found, live))) continue;
    const present = await presentWorkload(context, live, found);
    if (present === undefined) return undefined;
    return `moves from ${describeObject(present)} once ${describeObject(successor.ref)} is rolled out`;
  }
  return undefined;
}

/**
 * Which of the orphaned workloads are still needed, and why: a Service of the chain selects their pods,
 * or did a moment ago, or a workload of another kind that takes their name is not rolled out. Workloads
 * that need what the orphan holds (a claim, a port of the node) would never be: it goes before them.
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
    const successors = selectedBy(chain, service, selector);
    if (successors.length === 0 || holdsWhatTheyNeed(orphan, successors)) continue;
    if (!selects(serviceSpecOf(live).selector, orphan)) {
      const leftMs = movedAt(live, context) + endpointsMs - context.settings.clock.now();
      if (leftMs <= 0) continue;
      // The server's time: where our own clock is behind it, the difference may be hours.
      const requeueAfterMs = Math.min(leftMs, endpointsMs);
      return { reason: `${describeObject(live)} has just moved`, requeueAfterMs };
    }
    const wait = await waitForAny(context, successors, orphan);
    if (wait !== undefined) return wait;
    if (!isEqual(selector, serviceSpecOf(live).selector)) {
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

// Kinds of workloads that the owner may have beside those of the chain.
const rolling: readonly ResourceType<KubernetesObject>[] = [Deployment, StatefulSet, DaemonSet];

/** A workload of the owner with ready pods that `service` selects; undefined: there is none. */
async function presentWorkload(
  { client, settings }: RunContext,
  service: UnstructuredObject,
  successor: UnstructuredObject | undefined,
): Promise<UnstructuredObject | undefined> {
  const { selector } = serviceSpecOf(service);
  // Its old pods are selected still.
  if (successor !== undefined && !rolloutStatus(successor).complete && readyPods(successor) > 0) {
    return successor;
  }
  const { namespace } = service.metadata;
  const { signal, owner } = settings;
  for (const type of rolling) {
    const options = { namespace, controllerUid: owner.metadata.uid ?? '', signal };
    const found = await client.list(type, options).catch((error: unknown) => {
      if (isForbidden(error) || isNotFound(error)) return { items: [] };
      throw error;
    });
    const typed = found.items.map((item) => ({
      ...(item as unknown as UnstructuredObject),
      ...{ apiVersion: 'apps/v1', kind: type.kind },
    }));
    const present = typed.find((each) => readyPods(each) > 0 && selects(selector, each));
    if (present !== undefined) return present;
  }
  return undefined;
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

/** The workloads of the chain that a Service of it selects. */
function selectedBy(
  chain: Chain,
  { ref }: ChainedObject,
  selector: Labels,
): readonly ChainedObject[] {
  return chain.objects.filter(
    (one) => one.ref.namespace === ref.namespace && selects(selector, one.link.object),
  );
}

function selects(selector: Labels | undefined, workload: UnstructuredObject): boolean {
  const pairs = Object.entries(selector ?? {});
  const { labels = {} } = podTemplateIn(workload)?.metadata ?? {};
  const isWorkload = rollsPods(workload) && pairs.length > 0;
  return isWorkload && pairs.every(([key, value]) => labels[key] === value);
}

function readyPods({ status }: UnstructuredObject): number {
  const counts = (status ?? {}) as { readonly readyReplicas?: number; numberReady?: number };
  return counts.readyReplicas ?? counts.numberReady ?? 0;
}

/** Whether `service` gives the pods of a StatefulSet, of which one is ready, their names. */
function isGoverned(workload: UnstructuredObject, service: UnstructuredObject): boolean {
  const { serviceName } = (workload['spec'] ?? {}) as { readonly serviceName?: string };
  return serviceName === service.metadata.name && readyPods(workload) > 0;
}

/** When we changed the selector of a Service, or anything else of it; 0: not since it was made. */
function movedAt({ metadata }: UnstructuredObject, { settings }: RunContext): number {
  const { managedFields = [], creationTimestamp } = metadata;
  const ours = managedFields.find(
    ({ manager, operation }) => manager === settings.controllerName && operation === 'Apply',
  );
  if (ours?.time === undefined || ours.time === creationTimestamp) return 0;
  return Date.parse(ours.time);
}

function holdsWhatTheyNeed(
  orphan: UnstructuredObject,
  successors: readonly ChainedObject[],
): boolean {
  const held = new Set(exclusiveOf(orphan));
  return successors.some(({ link }) => exclusiveOf(link.object).some((each) => held.has(each)));
}

/** What one pod of a node, or of the cluster, has alone. */
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
