import { findCondition } from '../object/index.js';
import type { Condition, ConditionUpdate, KubernetesObject } from '../object/index.js';

/** Annotations that pause an object, with the value that each needs. */
export type PauseAnnotations = Readonly<Record<string, string>>;

/** The annotations that pause an object in every API style. */
export const commonPauseAnnotations: PauseAnnotations = {
  'operator-builder.io/paused': 'true',
  'cluster.x-k8s.io/paused': 'true',
};

/** The type of the condition that shows a pause, present or past. */
export const pausedCondition = 'Paused';

const pausedReason = 'PausedByAnnotation';
const waitingDeletion = '; its deletion waits until the annotation is gone';

/** The pause state of an object, and the condition that shows it. */
export interface PauseState {
  /** A text that names the annotation that pauses the object; undefined if it is not paused. */
  readonly by: string | undefined;
  /** The condition `Paused` to write; undefined if the object already shows it. */
  readonly update: ConditionUpdate | undefined;
  /** True if the condition `Paused` of the object is true, before `update` is written. */
  readonly wasPaused: boolean;
}

/** A condition of any API style: reason and message are optional. */
interface ShownCondition extends Pick<Condition, 'type' | 'status'> {
  readonly reason?: string;
  readonly message?: string;
}

/**
 * Finds the annotation of `pausing` that pauses `object`, which shows `conditions`. The first match in the order of
 * `pausing` counts, so that two controllers write the same message. If another controller wrote a condition with
 * another annotation or message, that condition stays: otherwise both controllers would overwrite it in turn.
 */
export function pauseOf(
  object: KubernetesObject,
  conditions: readonly ShownCondition[],
  pausing: PauseAnnotations,
): PauseState {
  const { annotations = {}, deletionTimestamp } = object.metadata;
  const shown = findCondition(conditions, pausedCondition);
  const wasPaused = shown?.status === 'True';
  const stands = wasPaused && stillHolds(shown, object);
  const key = Object.keys(pausing).find(
    (each) => Object.hasOwn(annotations, each) && annotations[each] === pausing[each],
  );
  const type = pausedCondition;
  if (key === undefined) {
    const isOver = wasPaused && !stands;
    const update = { type, status: 'False', reason: 'NotPaused' } as const;
    return { by: undefined, update: isOver ? update : undefined, wasPaused };
  }
  const by = named(key, annotations[key]);
  const says = stands ? (shown.message ?? '').replace(waitingDeletion, '') : by;
  const message = deletionTimestamp === undefined ? says : says + waitingDeletion;
  const isShown = stands && (shown.reason !== pausedReason || shown.message === message);
  const update = { type, status: 'True', reason: pausedReason, message } as const;
  return { by, update: isShown ? undefined : update, wasPaused };
}

/**
 * Returns true if the condition still holds: it names an annotation of the object, or another controller
 * wrote it.
 */
function stillHolds(
  { reason, message = '' }: ShownCondition,
  { metadata }: KubernetesObject,
): boolean {
  if (reason !== pausedReason) return true;
  const { annotations = {} } = metadata;
  const says = message.replace(waitingDeletion, '');
  return Object.entries(annotations).some(([key, value]) => named(key, value) === says);
}

function named(key: string, value: string | undefined): string {
  return `annotation ${key}: ${JSON.stringify(value)}`;
}
