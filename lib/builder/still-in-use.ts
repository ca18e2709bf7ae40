import {
  comesBeforeWorkloads,
  isKind,
  podReferencesOf,
  podTemplateIn,
  podTemplatePath,
  readObject,
  refId,
  rollsPods,
} from '../apply/index.js';
import type { Candidate, PodTemplate } from '../apply/index.js';
import { isForbidden } from '../object/api-error.js';
import { describeObject } from '../object/describe-object.js';
import { ConfigMap, PersistentVolumeClaim, Pod, Secret, ServiceAccount } from '../object/kinds.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import type { LabelSelector } from '../object/label-selector.js';
import { rolloutStatus } from '../object/rollout-status.js';
import type { Chain } from './chain.js';
import type { RunContext } from './context.js';

/** What {@link stillInUse} looks at. */
export interface Uses {
  readonly chain: Chain;
  readonly orphans: readonly Candidate[];
  /** Orphaned workloads that are not pruned yet: what was made for them stays with them. */
  readonly staying: readonly UnstructuredObject[];
  /** Workloads that are about to be something else than they are, by id. @defaultValue none */
  readonly becoming?: ReadonlyMap<string, UnstructuredObject> | undefined;
}

/**
 * Which of `orphans` the live workloads of the chain, or pods that they have not replaced yet, still
 * refer to, and which one does. Without them a pod would not start again: while its workload waits for
 * its turn to be updated, and while a rollout goes on, or is stuck.
 */
export async function stillInUse(
  context: RunContext,
  { chain, orphans, staying, becoming = new Map() }: Uses,
): Promise<ReadonlyMap<Candidate, string>> {
  const uses = new Map<Candidate, string>();
  for (const candidate of orphans) {
    const user = staying.find((each) => mayNeed(each, candidate));
    if (user !== undefined) uses.set(candidate, `${describeObject(user)} stays for now, too`);
  }
  const needed = orphans.filter((one) => isNeededByPods(one.object) && !uses.has(one));
  if (needed.length === 0) return uses;
  const workloads = chain.objects.filter(({ ref }) => podTemplatePath(ref) !== undefined);
  const found = await Promise.all(
    workloads.map(async ({ type, ref }) => {
      const planned = becoming.get(refId(ref));
      if (planned !== undefined) return [planned];
      const live = await readObject(context, type, ref);
      return live === undefined ? [] : [live, ...(await oldPods(context, live))];
    }),
  );
  for (const candidate of needed) {
    const user = found.flat().find((one) => refersTo(one, candidate));
    if (user !== undefined) uses.set(candidate, `${describeObject(user)} still refers to it`);
  }
  return uses;
}

/** The pods of `live` where some of them may be older than its template. */
async function oldPods(
  { client, settings }: RunContext,
  live: UnstructuredObject,
): Promise<readonly UnstructuredObject[]> {
  if (!mayHaveOldPods(live)) return [];
  const { namespace } = live.metadata;
  const { selector } = live['spec'] as { readonly selector?: LabelSelector };
  const labels = Object.entries(selector?.matchLabels ?? {});
  const labelSelector = labels.map(([key, value]) => `${key}=${value}`).join(',');
  try {
    const pods = await client.list(Pod, { namespace, labelSelector, signal: settings.signal });
    const staying = pods.items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return staying.map((pod) => ({ ...pod, apiVersion: 'v1', kind: 'Pod' }));
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const remedy =
      'give the operator the verb list for pods, so that nothing is pruned that they use';
    settings.logger.warn(remedy, { name: describeObject(live) });
    return [];
  }
}

/** What is updated on deletion of its pods is never seen rolling: it just has old ones. */
function mayHaveOldPods(workload: UnstructuredObject): boolean {
  if (!rollsPods(workload)) return false;
  if (!rolloutStatus(workload).complete) return true;
  const status = (workload['status'] ?? {}) as Readonly<Record<string, number | undefined>>;
  const { replicas = 0, updatedReplicas = 0 } = status;
  const { currentNumberScheduled = 0, updatedNumberScheduled = 0 } = status;
  return updatedReplicas < replicas || updatedNumberScheduled < currentNumberScheduled;
}

function mayNeed(workload: UnstructuredObject, { object }: Candidate): boolean {
  const isNear = workload.metadata.namespace === object.metadata.namespace;
  return isNear && comesBeforeWorkloads(object);
}

function isNeededByPods(object: UnstructuredObject): boolean {
  return [ConfigMap, Secret, ServiceAccount, PersistentVolumeClaim].some((type) =>
    isKind(object, type),
  );
}

function refersTo(user: UnstructuredObject, { object }: Candidate): boolean {
  // A pod has in its own spec what a workload has in its template.
  const template = isKind(user, Pod) ? (user as PodTemplate) : podTemplateIn(user);
  if (template === undefined || user.metadata.namespace !== object.metadata.namespace) {
    return false;
  }
  const { configMaps, secrets, pullSecrets, claims, serviceAccount } = podReferencesOf(template);
  const { name = '' } = object.metadata;
  if (isKind(object, ConfigMap)) return configMaps.includes(name);
  if (isKind(object, Secret)) return secrets.includes(name) || pullSecrets.includes(name);
  if (isKind(object, PersistentVolumeClaim)) return claims.includes(name);
  return serviceAccount === name;
}
