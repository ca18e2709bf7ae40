import { findCondition } from '../object/conditions.js';
import type { Condition, ConditionUpdate } from '../object/conditions.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';

/** Annotations that pause an object, with the value that does. */
export type PauseAnnotations = Readonly<Record<string, string>>;

/** The annotations that pause an object of every style. */
export const commonPauseAnnotations: PauseAnnotations = {
  'operator-builder.io/paused': 'true',
  'cluster.x-k8s.io/paused': 'true',
};

/** The type of the condition of an object that is paused, or was. */
export const pausedCondition = 'Paused';

const pausedReason = 'PausedByAnnotation';
const waitingDeletion = '; its deletion waits until the annotation is gone';

/** How an object stands to its pause annotations, and what is to be shown of it. */
export interface PauseState {
  /** What pauses the object, in words; undefined: nothing does. */
  readonly by: string | undefined;
  /** The condition `Paused` to be set; undefined: the object shows it as it is. */
  readonly update: ConditionUpdate | undefined;
  /** Whether the condition said before that the object is paused. */
  readonly wasPaused: boolean;
}

/** A condition as every style has it: reasons and messages may be missing. */
interface ShownCondition extends Pick<Condition, 'type' | 'status'> {
  readonly reason?: string;
  readonly message?: string;
}

/**
 * Says whether an annotation of `pausing` pauses `object`, which shows `conditions`. The first that is
 * found counts, in the order of `pausing`, so that two controllers come to the same words. That another
 * controller names another annotation, or has its own words, is no reason to write the condition in turns.
 */
export function pauseOf(
  object: KubernetesObject,
  conditions: readonly ShownCondition[],
  pausing: PauseAnnotations,
): PauseState {
  const { annotations = {}, deletionTimestamp } = object.metadata;
  const shown = findCondition(conditions, pausedCondition);
  const wasPaused = shown?.status === 'True';
  const stands = wasPaused && isToldStill(shown, object);
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

/** Whether what the condition says is so: it names an annotation of the object, or is none of ours. */
function isToldStill(
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
