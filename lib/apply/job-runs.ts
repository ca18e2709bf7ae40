import { getIfExists } from '../client/index.js';
import { hashObject } from '../hash/index.js';
import {
  isForbidden,
  isConditionTrue,
  isNotFound,
  findCondition,
  describeObject,
  isJsonObject,
  withoutMember,
  Job,
  keyOf,
} from '../object/index.js';
import type { KubernetesObject, UnstructuredObject, ObjectReference } from '../object/index.js';
import type { ApplyContext, ApplySettings } from './context.js';
import { changedDesire } from './desired-object.js';
import type { DesiredObject } from './desired-object.js';
import { isKind, refId } from './kind-traits.js';
import { appliedHashAnnotation, ownershipOf, ranAnnotationPrefix } from './ownership.js';
import type { JobRun, Outcome } from './results.js';

/** The UID that a plan uses for an owner that does not exist yet. */
export const placeholderUid = '00000000-0000-0000-0000-000000000000';

const ttl = 'ttlSecondsAfterFinished';

/**
 * Returns the object to apply for a Job with `ttlSecondsAfterFinished`, so that it runs once per specification. The
 * field is left out until the Job has finished and an annotation of the owner records that. Only then may Kubernetes
 * delete the Job, so a process that stops between two steps still finds it.
 * @returns `desired` itself for any other object; the recorded run of a Job that has ended and is deleted or being
 * deleted
 */
export async function desireOfRun(
  context: ApplyContext,
  desired: DesiredObject,
  live: UnstructuredObject | undefined,
): Promise<DesiredObject | JobRun> {
  if (!expires(desired)) return desired;
  const { owner } = context.settings;
  const untilFinished = changedDesire(desired, withoutTtl);
  const run = { key: keyOfRun(context.settings, desired.ref), value: runOf(owner, desired) };
  const known = recordedIn(owner, run);
  // Kubernetes deletes a Job after its TTL, but the Job exists until its pods are gone.
  if (live?.metadata.deletionTimestamp !== undefined || live === undefined) {
    const ended = known ?? (await recorded(context, run));
    if (ended !== undefined || live === undefined) return ended ?? untilFinished;
  }
  const { state } = runOfJob(live);
  if (state === 'running' || ownershipOf(live, owner).state !== 'ours') return untilFinished;
  if (known !== undefined) return desired;
  // The run belongs to the applied specification; the desired one may have changed since.
  const applied = live.metadata.annotations?.[appliedHashAnnotation] ?? '';
  if (![desired.hash, untilFinished.hash].includes(applied)) return untilFinished;
  const value = state === 'failed' ? `${run.value}${failedSuffix}` : run.value;
  return (await record(context, desired.ref, { ...run, value })) ? desired : untilFinished;
}

/** Adds the run of a Job to a finished outcome. A pending outcome may show the Job of an earlier owner. */
export function withRun(outcome: Outcome): Outcome {
  if (outcome.state !== 'done' || outcome.live === undefined) return outcome;
  const { live, result } = outcome;
  return isKind(live, Job) ? { ...outcome, result: { ...result, run: runOfJob(live) } } : outcome;
}

function expires({ ref, object: { spec } }: DesiredObject): boolean {
  return isKind(ref, Job) && isJsonObject(spec) && spec[ttl] !== undefined;
}

function withoutTtl(object: UnstructuredObject): UnstructuredObject {
  const { spec } = object;
  return isJsonObject(spec) ? { ...object, spec: withoutMember(spec, ttl) } : object;
}

function runOfJob(live: UnstructuredObject): JobRun {
  const { conditions } = (live as Job).status ?? {};
  const failure = findCondition(conditions, 'Failed');
  if (failure?.status === 'True') {
    const { message = 'it has failed', reason } = failure;
    return { state: 'failed', message: reason ? `${message} (${reason})` : message };
  }
  const isComplete = isConditionTrue(conditions, 'Complete');
  return isComplete
    ? { state: 'succeeded', message: 'it has completed' }
    : { state: 'running', message: 'it has not finished' };
}

/** The record of a Job that has run, in an annotation of the owner. A suffix of its value shows a failure. */
interface RunRecord {
  readonly key: string;
  readonly value: string;
}

const failedSuffix = ' Failed';

function recordedIn(
  { metadata: { annotations } }: KubernetesObject,
  { key, value }: RunRecord,
): JobRun | undefined {
  const found = annotations?.[key];
  const after = 'and its ttlSecondsAfterFinished is over';
  if (found === value) return { state: 'succeeded', message: `it has run, ${after}` };
  const isFailed = found === `${value}${failedSuffix}`;
  return isFailed ? { state: 'failed', message: `it has failed, ${after}` } : undefined;
}

// The value includes the owner's UID: a copied annotation does not count as a run of a recreated owner.
function runOf({ metadata: { uid } }: KubernetesObject, { ref, object }: DesiredObject): string {
  return `${ref.name} ${hashObject({ uid, spec: withoutTtl(object)['spec'] })}`;
}

function prefixOf({ controllerName, scope }: ApplySettings): string {
  return `${ranAnnotationPrefix}${hashObject({ controllerName, scope }).slice(0, 8)}-`;
}

function keyOfRun(settings: ApplySettings, ref: ObjectReference): string {
  return `${prefixOf(settings)}${hashObject(refId(ref)).slice(0, 16)}`;
}

// Reads the owner again: the owner given to the chain may be older than the end of the Job.
async function recorded({ settings }: ApplyContext, run: RunRecord): Promise<JobRun | undefined> {
  const { owner, signal } = settings;
  // In a plan, the owner may not exist yet, so it has no record of a run.
  if (owner.metadata.uid === placeholderUid) return undefined;
  const { client } = settings;
  const found = await getIfExists(client.live ?? client, owner, keyOf(owner), { signal });
  return found && recordedIn(found, run);
}

/** Records the run. @returns false if the operator is not allowed to patch the owner */
async function record(
  context: ApplyContext,
  ref: ObjectReference,
  { key, value }: RunRecord,
): Promise<boolean> {
  try {
    await annotateOwner(context, { [key]: value }, `${describeObject(ref)} has finished`);
    return true;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const owner = describeObject(context.settings.owner);
    const note = `${describeObject(ref)}: applied without ${ttl}, because its end can't be recorded on ${owner}, and a deleted Job would run again; give the operator the verb patch for the kind of the owner`;
    const warning = { type: 'Warning', reason: 'RunNotRecorded', action: 'Reconcile' } as const;
    context.report({ ...warning, note, related: ref });
    return false;
  }
}

/** Removes the records of Jobs that are not among `desired` from the owner. */
export async function pruneRuns(
  context: ApplyContext,
  desired: readonly ObjectReference[],
): Promise<void> {
  const { settings } = context;
  const prefix = prefixOf(settings);
  const jobs = desired.filter((ref) => isKind(ref, Job));
  const kept = new Set(jobs.map((ref) => keyOfRun(settings, ref)));
  const annotations = Object.keys(settings.owner.metadata.annotations ?? {});
  const left = annotations.filter((key) => key.startsWith(prefix) && !kept.has(key));
  if (left.length === 0) return;
  const removed = Object.fromEntries(left.map((key) => [key, null]));
  try {
    await annotateOwner(context, removed, 'Jobs that have run are no longer chained');
  } catch (error) {
    // If the operator is not allowed to patch the owner, the records stay on it, which does no harm.
    if (!isForbidden(error) && !isNotFound(error)) throw error;
  }
}

async function annotateOwner(
  { client, settings }: ApplyContext,
  annotations: Readonly<Record<string, string | null>>,
  cause: string,
): Promise<void> {
  const { owner, controllerName: fieldManager, signal } = settings;
  const { uid } = owner.metadata;
  const body = { metadata: { uid, annotations } };
  const options = { fieldManager, signal, details: { cause } };
  await client.patch(owner, keyOf(owner), { type: 'merge', body }, options);
}
