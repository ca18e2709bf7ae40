import { describeObject } from '../../object/describe-object.js';
import { isJsonObject } from '../../object/json.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { rolloutStatus } from '../../object/rollout-status.js';
import type { Trouble } from '../conditions/explained-status.js';
import type { Explanation } from '../conditions/marks.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { applyObjects } from './apply-objects.js';
import { joined } from './failures.js';
import type { Pass } from './pass.js';
import { complete } from './phases.js';
import { prune } from './prune.js';
import type { SurveyedObject } from './survey.js';
import { callUserCode } from './user-code.js';

/** After a write, the delay until the next reconcile in case no watch reports a change, in milliseconds. */
const settleMs = 1_000;

/**
 * While others have work to do, the delay until the next reconcile in case no watch reports a change, in
 * milliseconds.
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
  await callUserCode(pass, 'controllerConfigUpdater', (signal) =>
    controllerConfigUpdater?.(pass.cr, pass.hooks(signal)),
  );
  const { objects, changed, errors } = await applyObjects(pass, surveyed);
  const failed = [...errors];
  await keepPerishables(pass).catch((error: unknown) => failed.push(error));
  if (failed.length > 0) throw joined(failed);
  const degraded = whyDegraded(objects);
  const going = whyGoing(objects);
  for (const each of rollouts(objects)) pass.waitFor(each);
  for (const { desired, type } of surveyed) {
    if (type === undefined) pass.waitFor(`${describeObject(desired)}: its kind to be served`);
  }
  if (going === undefined) pass.explain(troubleOf(pass, degraded));
  else pass.complain(going);
  const atMost = (ms: number): number => Math.min(ms, perishablesSyncIntervalMs);
  // Objects that were just written have not been checked yet.
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
  await callUserCode(pass, 'perishablesSynchronizer', (signal) =>
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

function whyGoing(objects: readonly UnstructuredObject[]): Trouble | undefined {
  const going = objects.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (going.length === 0) return undefined;
  const names = going.map((object) => describeObject(object)).join(', ');
  const message = `being deleted by somebody, made anew once gone: ${names}`;
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
