import {
  deepEqual,
  describeObject,
  findCondition,
  isInvalid,
  isNotFound,
  createMergePatch,
  keyOf,
} from '../../object/index.js';
import { asRead } from '../../apply/index.js';
import { getIfExists } from '../../client/index.js';
import { OperatorError, isOperatorError } from '../../system/index.js';
import isEmpty from 'lodash/isEmpty.js';
import omit from 'lodash/omit.js';
import pick from 'lodash/pick.js';
import { mergeStatus, pauseOf } from '../../status/index.js';
import { setLifecycleCondition } from '../conditions.js';
import type { Explanation } from '../conditions.js';
import type { LifecycleCondition, LifecycleObject, LifecycleStatus } from '../lifecycle-status.js';
import type { Pass } from './pass.js';

/** Conditions besides `Available`, `Progressing` and `Degraded`. Each exists only while it is True. */
export type OwnCondition = 'DowngradeRefused' | 'PruneRefused' | 'Paused';

/** Sets a condition. @returns whether it is new or its message has changed */
export function raise(pass: Pass, type: OwnCondition, why: Explanation): boolean {
  const before = pass.status.conditions ?? [];
  const known = before.find((one) => one.type === type);
  if (known?.status === 'True' && known.message === why.message) return false;
  const update = { type, status: 'True', ...why } as const;
  const conditions = setLifecycleCondition(before, update, pass.settings.clock);
  pass.status = { ...pass.status, conditions };
  return true;
}

/** Removes a condition. @returns whether it existed */
export function settle(pass: Pass, type: OwnCondition): boolean {
  const { conditions = [] } = pass.status;
  const rest = conditions.filter((one) => one.type !== type);
  if (rest.length === conditions.length) return false;
  pass.status = { ...pass.status, conditions: rest };
  return true;
}

/**
 * Writes the status of the reconcile if it has changed, ignoring heartbeats. Does nothing if the
 * configuration is gone.
 * @throws OperatorError `InvalidOption`: the definition of the kind has no place for the status.
 * @throws ApiError: the server refuses the status.
 */
export async function writeStatus(pass: Pass): Promise<void> {
  const { settings, live: client, signal } = pass;
  const { crManager, subresourceEnabled } = settings;
  const before = statusOf(pass, pass.cr);
  const status = withTimesOf(crManager.status(pass.cr)?.conditions, pass.status);
  // A `withStatus` of the operator may leave fields out.
  const kept = crManager.status(crManager.withStatus(pass.cr, status)) ?? {};
  if (shows(before, withoutHeartbeats(kept))) return;
  const merge = {
    type: crManager.type,
    patch: (cr: LifecycleObject) =>
      createMergePatch(cr, crManager.withStatus(cr, status)) as object,
    stands: (now: LifecycleObject) => deepEqual(before, statusOf(pass, now)),
    ...(subresourceEnabled && { subresource: 'status' }),
  };
  try {
    pass.cr = await mergeStatus(pass.cr, merge, { client, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const remedy = 'add it to the CRD, or set subresourceEnabled to false';
    const problem = `the server has no subresource status for the kind; ${remedy}`;
    await refuseUnlessGone(pass, problem, error);
    return;
  }
  const dropped = droppedFields(kept, crManager.status(pass.cr) ?? {});
  if (dropped.length === 0) return;
  const remedy = 'add the lifecycleStatusProperties to the schema of the status';
  await refuseUnlessGone(pass, `the server does not store ${dropped.join(', ')}; ${remedy}`);
}

const ownFields = [
  'phase',
  'conditions',
  'operatorVersion',
  'targetVersion',
  'observedVersion',
] as const;

/** Returns the fields of the lifecycle that the server has dropped, because the schema lacks them. */
function droppedFields(sent: LifecycleStatus, stored: LifecycleStatus): readonly string[] {
  return ownFields.filter((name) => !isEmpty(sent[name]) && isEmpty(stored[name]));
}

/** @throws OperatorError `InvalidOption` with the problem, unless the configuration is gone. */
async function refuseUnlessGone(pass: Pass, problem: string, cause?: unknown): Promise<void> {
  const { cr, live, settings, signal } = pass;
  const now = await getIfExists(live, settings.crManager.type, keyOf(cr), { signal });
  if (now?.metadata.uid !== cr.metadata.uid) return;
  throw new OperatorError('InvalidOption', `status of ${describeObject(cr)}: ${problem}`, {
    cause,
  });
}

/** Whether the definition of the kind or the server refuses the status. */
export function isUnstorable(error: unknown): error is Error {
  const isRefused = isOperatorError(error, 'InvalidOption') || isOperatorError(error, 'Terminal');
  return isRefused || isInvalid(error);
}

/**
 * Returns `status` with the transition times of `before` for conditions that have the same value in both. In one
 * reconcile a condition may flip twice, for example when all objects are as desired and pruning fails then.
 */
function withTimesOf(
  before: LifecycleStatus['conditions'],
  status: LifecycleStatus,
): LifecycleStatus {
  if (status.conditions === undefined) return status;
  const conditions = status.conditions.map((one) => {
    const shown = findCondition(before, one.type);
    if (shown?.status !== one.status || shown.lastTransitionTime === undefined) return one;
    return { ...one, lastTransitionTime: shown.lastTransitionTime };
  });
  return { ...status, conditions };
}

/** Whether a stored status has all of `wanted`. The server may have added defaults to its conditions. */
function shows(stored: ComparedStatus, wanted: ComparedStatus): boolean {
  return (
    deepEqual(stored.others, wanted.others) &&
    stored.conditions.length === wanted.conditions.length &&
    wanted.conditions.every((one) => {
      const found = findCondition(stored.conditions, one.type);
      return found !== undefined && deepEqual(pick(found, Object.keys(one)), one);
    })
  );
}

/** Compares the lifecycle's part only: the rest of the status belongs to the operator. */
function statusOf({ settings }: Pass, cr: LifecycleObject): ComparedStatus {
  return withoutHeartbeats(settings.crManager.status(cr) ?? {});
}

interface ComparedStatus {
  readonly conditions: readonly LifecycleCondition[];
  readonly others: object;
}

function withoutHeartbeats(status: LifecycleStatus): ComparedStatus {
  const { phase, operatorVersion, targetVersion, observedVersion, conditions = [] } = status;
  const others = { phase, operatorVersion, targetVersion, observedVersion };
  return { others, conditions: conditions.map(withoutHeartbeat) };
}

function withoutHeartbeat(condition: LifecycleCondition): LifecycleCondition {
  return omit(condition, 'lastHeartbeatTime');
}

/**
 * Whether an annotation pauses the configuration. If so, a condition and an event name the annotation, and
 * nothing else is done, not even a deletion.
 */
export function isPaused(pass: Pass): boolean {
  const { pauseAnnotations } = pass.settings;
  const { by, update } = pauseOf(pass.cr, pass.status.conditions ?? [], pauseAnnotations);
  if (by === undefined) {
    const message = 'reconciled again: no annotation pauses it';
    if (settle(pass, 'Paused')) pass.addStatusEvent({ type: 'Normal', reason: 'Resumed', message });
    return false;
  }
  if (update === undefined) return true;
  const { reason, message = by } = update;
  raise(pass, 'Paused', { reason, message });
  pass.addStatusEvent({ type: 'Normal', reason: 'Paused', message: `paused by ${message}` });
  return true;
}

/** Whether our finalizer, or one of the previous operator, holds the configuration. */
export function hasFinalizer({ cr, settings }: Pass): boolean {
  const ours = [settings.finalizer, ...settings.legacyFinalizers];
  return cr.metadata.finalizers?.some((name) => ours.includes(name)) === true;
}

/**
 * Adds our finalizer, and removes those of the previous operator.
 * @returns false if the configuration is gone
 */
export async function takeFinalizers(pass: Pass): Promise<boolean> {
  const { finalizer } = pass.settings;
  const { finalizers = [] } = pass.cr.metadata;
  const kept = withoutLegacy(pass);
  const isWhole = kept.length === finalizers.length && kept.includes(finalizer);
  if (isWhole) return true;
  try {
    await setFinalizers(pass, [...kept.filter((name) => name !== finalizer), finalizer]);
    return true;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    pass.isOver = true;
    return false;
  }
}

/** Removes our finalizer and those of the previous operator. The configuration may already be gone. */
export async function releaseFinalizers(pass: Pass): Promise<void> {
  const others = withoutLegacy(pass).filter((name) => name !== pass.settings.finalizer);
  try {
    await setFinalizers(pass, others);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function withoutLegacy({ cr, settings }: Pass): readonly string[] {
  const { finalizers = [] } = cr.metadata;
  return finalizers.filter((name) => !settings.legacyFinalizers.includes(name));
}

// A merge patch replaces the whole list: without the resource version, it would drop finalizers that other
// controllers have added.
async function setFinalizers(pass: Pass, finalizers: readonly string[]): Promise<void> {
  const { cr, live, settings, signal } = pass;
  const body = { metadata: { ...asRead(cr), finalizers } };
  const { type } = settings.crManager;
  pass.cr = await live.patch(type, keyOf(cr), { type: 'merge', body }, { signal });
}
