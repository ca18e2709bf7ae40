import { decideByExistence, reasonToWait, typeIfServed, withMarks } from '../../apply/index.js';
import type { Merging } from '../../apply/index.js';
import { deepEqual, describeObject, isJsonObject, rolloutStatus } from '../../object/index.js';
import type { UnstructuredObject } from '../../object/index.js';
import type { Trouble, Explanation } from '../conditions.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { joined } from './pass.js';
import type { Pass } from './pass.js';
import { complete } from './phases.js';
import { prune } from './owned-objects.js';
import type { SurveyedObject } from './survey.js';
import {
  callUserCode,
  hasCallbacks,
  invokeAfter,
  invokeCallbacks,
  owedState,
} from './user-code.js';
import { isStaleWrite } from '../../client/index.js';
import { versionLabelOf } from './survey.js';

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
export async function carryOut<CR extends LifecycleObject>(
  pass: Pass<CR>,
  surveyed: readonly SurveyedObject[],
): Promise<number> {
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
export async function keepPerishables<CR extends LifecycleObject>(pass: Pass<CR>): Promise<void> {
  const { perishablesSynchronizer } = pass.settings;
  pass.arePerishablesKept = true;
  await callUserCode(pass, { what: 'perishablesSynchronizer' }, (signal) =>
    perishablesSynchronizer?.(pass.cr, pass.hooks(signal)),
  );
}

/** Until a deployment or an upgrade is complete, waiting for its workloads is not a problem. */
function troubleOf<CR extends LifecycleObject>(
  { status }: Pass<CR>,
  degraded: Degradation | undefined,
): Trouble | undefined {
  return status.phase === 'Deployed' || degraded?.stuck === true ? degraded : undefined;
}

function whyGoing<CR extends LifecycleObject>(
  { cr }: Pass<CR>,
  objects: readonly UnstructuredObject[],
): Trouble | undefined {
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
    // A user must resume it: an upgrade would otherwise wait forever without a visible reason.
    if (isPaused(object))
      return [{ kind: object.kind, message: `${message}; paused`, stuck: true }];
    return [{ kind: object.kind, message, stuck }];
  });
  const [first] = waiting;
  if (first === undefined) return undefined;
  const message = waiting.map((each) => each.message).join('; ');
  return { reason: `${first.kind}NotReady`, message, stuck: waiting.some(({ stuck }) => stuck) };
}

/** Returns the workloads that have not rolled out, each with its progress, in stable wording. */
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
async function applyObjects<CR extends LifecycleObject>(
  pass: Pass<CR>,
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
async function applyOne<CR extends LifecycleObject>(
  pass: Pass<CR>,
  one: SurveyedObject,
): Promise<UnstructuredObject | undefined> {
  const decision = decideByExistence(one.desired, one.current, { owner: pass.cr });
  switch (decision.action) {
    case 'create':
      return create(pass, one);
    case 'wait':
      // Another reconcile creates the object again once it is gone.
      return one.current;
    case 'compare':
      return update(pass, one, decision.live);
  }
}

/** @returns undefined if the kind is not served yet */
async function create<CR extends LifecycleObject>(
  pass: Pass<CR>,
  { desired, type }: SurveyedObject,
): Promise<UnstructuredObject | undefined> {
  const { merger } = pass.settings;
  const report = new Report(pass, desired, 'Create');
  return report.of(async () => {
    const isServed = type ?? (await typeIfServed(pass.live, desired));
    if (isServed === undefined) return undefined;
    const own = structuredClone(desired);
    await invokeCallbacks(pass, 'PRE_CREATE', { desired: own });
    const marked = merger.creation({ ...mergingOf(pass, { desired }), edited: own });
    const made = await pass.live.create(marked, { signal: pass.signal });
    report.done(made);
    await invokeAfter(pass, 'POST_CREATE', { desired, current: made });
    return made;
  });
}

async function update<CR extends LifecycleObject>(
  pass: Pass<CR>,
  { desired }: SurveyedObject,
  current: UnstructuredObject,
): Promise<UnstructuredObject> {
  const owed = owedState(pass, current);
  if (owed !== undefined) {
    const verb = owed === 'POST_CREATE' ? 'Create' : 'Update';
    const earlier = new Report(pass, desired, verb, { isDone: true });
    await earlier.of(() => invokeAfter(pass, owed, { desired, current }));
  }
  const report = new Report(pass, desired, 'Update');
  return report.of(async () => {
    const own = hasCallbacks(pass, desired) ? structuredClone(current) : current;
    await invokeCallbacks(pass, 'POST_READ', { desired, current: own });
    const { merger, updateVersionLabel } = pass.settings;
    const merging = { ...mergingOf(pass, { desired, current }), edited: own };
    const decision = merger.decide(current, merging);
    if (decision.action === 'nothing') return current;
    const next = structuredClone(decision.desired);
    await invokeCallbacks(pass, 'PRE_UPDATE', { desired, current: next });
    if (deepEqual(next, current)) return current;
    const labels = { [updateVersionLabel]: versionLabelOf(pass.operatorVersion) };
    const { live: client, signal } = pass;
    const edited = withMarks(next, { labels });
    const written = await merger.replace(decision, edited, { client, signal });
    // A change that the server reverted is not reported: each reconcile would report it again.
    if (written === current) return current;
    report.done(written);
    await invokeAfter(pass, 'POST_UPDATE', { desired, current: written });
    return written;
  });
}

function mergingOf<CR extends LifecycleObject>(
  { settings, operatorVersion }: Pass<CR>,
  {
    desired,
    current,
  }: { readonly desired: UnstructuredObject; readonly current?: UnstructuredObject },
): Merging {
  const { createVersionLabel, isMutable } = settings;
  const created = current?.metadata.labels?.[createVersionLabel];
  const labels = { [createVersionLabel]: created ?? versionLabelOf(operatorVersion) };
  return { desired, labels, metadataOnly: isMutable(desired) };
}

/** Reports the result of a write of one object, and of the callbacks after it. */
class Report<CR extends LifecycleObject> {
  readonly #pass: Pass<CR>;
  readonly #desired: UnstructuredObject;
  readonly #verb: 'Create' | 'Update';
  #isDone: boolean;

  constructor(
    pass: Pass<CR>,
    desired: UnstructuredObject,
    verb: 'Create' | 'Update',
    { isDone = false } = {},
  ) {
    this.#pass = pass;
    this.#desired = desired;
    this.#verb = verb;
    this.#isDone = isDone;
  }

  /** Calls `work`, and reports its error. @throws the error of `work` */
  async of<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      // A conflict is retried at once and is not a failure.
      if (!isStaleWrite(error)) this.#failed(error);
      throw error;
    }
  }

  done(object: UnstructuredObject): void {
    this.#isDone = true;
    const message = `${this.#what} ${describeObject(object)}`;
    const reason = `${this.#verb}ResourceSuccess`;
    this.#pass.addEvent({ type: 'Normal', reason, message }, object);
  }

  #failed(error: unknown): void {
    const desired = this.#desired;
    const name = describeObject(desired);
    const verb = this.#verb.toLowerCase();
    const what = this.#isDone ? `${this.#what} ${name}, then` : `could not ${verb} ${name}:`;
    this.#pass.fail(error, { reason: `${this.#verb}ResourceFailed`, what }, desired);
  }

  get #what(): string {
    return this.#verb === 'Create' ? 'created' : 'updated';
  }
}
