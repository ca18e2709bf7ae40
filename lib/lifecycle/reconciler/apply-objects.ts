import { decideByExistence, reasonToWait, typeIfServed, withMarks } from '../../apply/index.js';
import type { Merging } from '../../apply/index.js';
import { getIfExists } from '../../client/index.js';
import {
  deepEqual,
  describeObject,
  isAlreadyExists,
  isJsonObject,
  keyOf,
  labelValueOf,
  rolloutStatus,
} from '../../object/index.js';
import type { KubernetesObject, TypeReference, UnstructuredObject } from '../../object/index.js';
import type { Trouble, Explanation } from '../conditions.js';
import { joined } from './pass.js';
import type { Pass } from './pass.js';
import { complete } from './phases.js';
import { prune, reportingFailure } from './owned-objects.js';
import type { FailingStep } from './owned-objects.js';
import { isOurs } from './survey.js';
import type { SurveyedObject } from './survey.js';
import {
  callUserCode,
  hasCallbacks,
  invokeAfter,
  invokeCallbacks,
  owedState,
} from './user-code.js';

/** After a write, the delay until the next reconcile in case no watch reports a change, in milliseconds. */
const settleMs = 1_000;

/**
 * While workloads roll out or objects are being deleted, the delay until the next reconcile in case no watch
 * reports a change, in milliseconds.
 */
const recheckMs = 10_000;

/**
 * Applies the desired system, and reports its completion.
 * @returns the delay until the next reconcile, in milliseconds
 */
export async function carryOut(pass: Pass, surveyed: readonly SurveyedObject[]): Promise<number> {
  const { controllerConfigUpdater, perishablesSyncIntervalMs } = pass.settings;
  await callUserCode(pass, { what: 'controllerConfigUpdater' }, (signal) =>
    controllerConfigUpdater?.(pass.cr, pass.hooks(signal)),
  );
  const { objects, changed, errors } = await applyObjects(pass, surveyed);
  const failed = [...errors];
  await keepPerishables(pass).catch((error: unknown) => failed.push(error));
  if (failed.length > 0) throw joined(failed);
  const degraded = whyDegraded(objects);
  const going = whyGoing(pass, objects);
  for (const each of rollouts(objects)) pass.waitFor(each);
  for (const { desired, type } of surveyed) {
    if (type === undefined) pass.waitFor(`${describeObject(desired)}: its kind to be served`);
  }
  if (going === undefined) pass.explain(troubleOf(pass, degraded));
  else pass.complain(going);
  const atMost = (ms: number): number => Math.min(ms, perishablesSyncIntervalMs);
  // The next reconcile checks the objects that were just written.
  if (changed || pass.hasBegun) return atMost(settleMs);
  if (degraded !== undefined || going !== undefined) return atMost(recheckMs);
  const isLeft = await prune(pass, surveyed);
  if (pass.status.phase === 'Deployed' || isLeft) pass.explain(undefined);
  if (isLeft) return atMost(recheckMs);
  if (pass.status.phase !== 'Deployed') complete(pass);
  return perishablesSyncIntervalMs;
}

/**
 * Calls the operator's code that renews expiring objects, once per reconcile. Other failures must not prevent
 * it.
 */
export async function keepPerishables(pass: Pass): Promise<void> {
  const { perishablesSynchronizer } = pass.settings;
  pass.arePerishablesKept = true;
  await callUserCode(pass, { what: 'perishablesSynchronizer' }, (signal) =>
    perishablesSynchronizer?.(pass.cr, pass.hooks(signal)),
  );
}

/** Until a deployment or an upgrade is complete, waiting for its workloads is not a problem. */
function troubleOf({ status }: Pass, degraded: Degradation | undefined): Trouble | undefined {
  return status.phase === 'Deployed' || degraded?.stuck === true ? degraded : undefined;
}

function whyGoing({ cr }: Pass, objects: readonly UnstructuredObject[]): Trouble | undefined {
  const going = objects.flatMap((object) => {
    const reason = reasonToWait(object, cr);
    return reason === undefined ? [] : [`${describeObject(object)} ${reason}`];
  });
  if (going.length === 0) return undefined;
  const message = `created again once they are gone: ${going.join(', ')}`;
  return { reason: 'ResourceBeingDeleted', message };
}

/** The workloads of a system that have not rolled out. */
export interface Degradation extends Explanation {
  /** Waiting does not help: a controller has stopped trying, or a user paused the rollout. */
  readonly stuck: boolean;
}

/** Returns the workloads that have not rolled out; undefined if all have. */
export function whyDegraded(objects: readonly UnstructuredObject[]): Degradation | undefined {
  const waiting = objects.flatMap((object) => {
    const rollout = rolloutStatus(object);
    if (rollout.complete) return [];
    const { message, stuck } = rollout;
    // A paused workload counts as stuck, so that a condition tells users to resume it. Otherwise an upgrade would wait
    // forever without a visible reason.
    if (isPaused(object))
      return [{ kind: object.kind, message: `${message}; paused`, stuck: true }];
    return [{ kind: object.kind, message, stuck }];
  });
  const [first] = waiting;
  if (first === undefined) return undefined;
  const message = waiting.map((each) => each.message).join('; ');
  return { reason: `${first.kind}NotReady`, message, stuck: waiting.some(({ stuck }) => stuck) };
}

/**
 * Returns the workloads that have not rolled out, each with its progress. While pods start, the texts stay the same.
 */
export function rollouts(objects: readonly UnstructuredObject[]): readonly string[] {
  return objects.flatMap((object) => {
    const rollout = rolloutStatus(object);
    if (rollout.complete) return [];
    if (rollout.stuck) return [rollout.message];
    if (isPaused(object)) return [`${describeObject(object)}: rollout is paused`];
    return [`${describeObject(object)}: ${object.kind === 'Job' ? 'running' : 'rolling out'}`];
  });
}

function isPaused({ kind, spec }: UnstructuredObject): boolean {
  return kind === 'Deployment' && isJsonObject(spec) && spec['paused'] === true;
}

/** The result of applying the desired objects. */
export interface AppliedObjects {
  /** The live objects, in the order of the desired ones, without those that failed. */
  readonly objects: readonly UnstructuredObject[];
  /** Whether something was written, or is still pending. */
  readonly changed: boolean;
  readonly errors: readonly unknown[];
}

/** Creates missing objects and updates changed ones, in sequence; continues after an error. */
async function applyObjects(
  pass: Pass,
  surveyed: readonly SurveyedObject[],
): Promise<AppliedObjects> {
  const objects: UnstructuredObject[] = [];
  const errors: unknown[] = [];
  let changed = false;
  for (const one of surveyed) {
    pass.signal.throwIfAborted();
    try {
      const after = await applyOne(pass, one);
      if (after !== undefined) objects.push(after);
      changed ||= after !== one.current || after === undefined;
    } catch (error) {
      errors.push(error);
    }
  }
  return { objects, changed, errors };
}

/** @returns the live object; undefined if the kind is not served yet */
async function applyOne(pass: Pass, one: SurveyedObject): Promise<UnstructuredObject | undefined> {
  const decision = decideByExistence(one.desired, one.current, { owner: pass.cr });
  switch (decision.action) {
    case 'create':
      return create(pass, one);
    case 'wait':
      // Another reconcile creates the object again when it is gone.
      return one.current;
    case 'compare':
      return update(pass, one, decision.live);
  }
}

/** @returns undefined if the kind is not served yet */
async function create(
  pass: Pass,
  { desired, type }: SurveyedObject,
): Promise<UnstructuredObject | undefined> {
  const { merger } = pass.settings;
  let existing: UnstructuredObject | undefined;
  const made = await reportingFailure(pass, stepOf(desired, 'Create'), async () => {
    const isServed = type ?? (await typeIfServed(pass.live, desired));
    if (isServed === undefined) return undefined;
    const own = structuredClone(desired);
    await invokeCallbacks(pass, 'PRE_CREATE', { desired: own });
    const marked = merger.creation({ ...mergingOf(pass, { desired }), edited: own });
    return pass.live.create(marked, { signal: pass.signal }).catch(async (error: unknown) => {
      existing = await createdMeanwhile(pass, { type: isServed, desired }, error);
      return undefined;
    });
  });
  if (existing !== undefined) return applyOne(pass, { desired, type, current: existing });
  if (made !== undefined) await finish(pass, 'Create', { desired, current: made });
  return made;
}

/**
 * Returns the object whose creation failed because another process of this configuration has just created it.
 * @throws `error` if the creation failed for another reason, such as an object of a user.
 */
async function createdMeanwhile(
  pass: Pass,
  {
    type,
    desired,
  }: { readonly type: TypeReference<KubernetesObject>; readonly desired: UnstructuredObject },
  error: unknown,
): Promise<UnstructuredObject> {
  const { live, signal } = pass;
  const found = isAlreadyExists(error)
    ? await getIfExists(live, type, keyOf(desired), { signal })
    : undefined;
  if (found === undefined || !isOurs(pass, found)) throw error;
  return found as UnstructuredObject;
}

async function update(
  pass: Pass,
  { desired }: SurveyedObject,
  current: UnstructuredObject,
): Promise<UnstructuredObject> {
  const owed = owedState(pass, current);
  if (owed !== undefined) {
    const verb = owed === 'POST_CREATE' ? 'Create' : 'Update';
    await callAfter(pass, verb, { desired, current });
  }
  const written = await reportingFailure(pass, stepOf(desired, 'Update'), async () => {
    const own = hasCallbacks(pass, desired) ? structuredClone(current) : current;
    await invokeCallbacks(pass, 'POST_READ', { desired, current: own });
    const { merger, updateVersionLabel } = pass.settings;
    const merging = { ...mergingOf(pass, { desired, current }), edited: own };
    const decision = merger.decide(current, merging);
    if (decision.action === 'nothing') return current;
    const next = structuredClone(decision.desired);
    await invokeCallbacks(pass, 'PRE_UPDATE', { desired, current: next });
    if (deepEqual(next, current)) return current;
    const labels = { [updateVersionLabel]: labelValueOf(pass.operatorVersion) };
    const { live: client, signal } = pass;
    return merger.replace(decision, withMarks(next, { labels }), { client, signal });
  });
  // A change that the server reverted is not reported: each reconcile would report it again.
  if (written !== current) await finish(pass, 'Update', { desired, current: written });
  return written;
}

function mergingOf(
  { settings, operatorVersion }: Pass,
  { desired, current }: Pick<Written, 'desired'> & Partial<Written>,
): Merging {
  const { createVersionLabel, isMutable } = settings;
  const created = current?.metadata.labels?.[createVersionLabel];
  const labels = { [createVersionLabel]: created ?? labelValueOf(operatorVersion) };
  return { desired, labels, metadataOnly: isMutable(desired) };
}

type Verb = 'Create' | 'Update';

const pastOf = { Create: 'created', Update: 'updated' } as const;

interface Written {
  readonly desired: UnstructuredObject;
  readonly current: UnstructuredObject;
}

/** Reports a write, and calls the callbacks after it. */
async function finish(pass: Pass, verb: Verb, objects: Written): Promise<void> {
  const { current } = objects;
  const message = `${pastOf[verb]} ${describeObject(current)}`;
  pass.addEvent({ type: 'Normal', reason: `${verb}ResourceSuccess`, message }, current);
  await callAfter(pass, verb, objects);
}

function callAfter(pass: Pass, verb: Verb, objects: Written): Promise<void> {
  const state = verb === 'Create' ? 'POST_CREATE' : 'POST_UPDATE';
  return reportingFailure(pass, stepOf(objects.desired, verb, true), () =>
    invokeAfter(pass, state, objects),
  );
}

function stepOf(object: UnstructuredObject, verb: Verb, isWritten = false): FailingStep {
  const name = describeObject(object);
  const what = isWritten
    ? `${pastOf[verb]} ${name}, then`
    : `could not ${verb.toLowerCase()} ${name}:`;
  return { object, reason: `${verb}ResourceFailed`, what };
}
