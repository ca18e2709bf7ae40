import type { Clock } from '../system/clock.js';
import { formatTime } from './micro-time.js';

/** One aspect of an object's state, as metav1.Condition. */
export interface Condition {
  /** CamelCase, or with a prefix, for example `Ready`; one condition of a type in each list. */
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** The `metadata.generation` that the condition was set upon. */
  readonly observedGeneration?: number;
  /** When `status` last flipped: RFC 3339, whole seconds. */
  readonly lastTransitionTime: string;
  /** CamelCase, never empty. */
  readonly reason: string;
  /** For people; may be empty. */
  readonly message: string;
}

/** A {@link Condition} to be set. */
export interface ConditionUpdate extends Omit<Condition, 'lastTransitionTime' | 'message'> {
  /** @defaultValue '' */
  readonly message?: string;
}

/**
 * The conditions with `update` among them: in place where there is one of its type, else at the end.
 * `lastTransitionTime` moves only when the status flips. The same array comes back when nothing
 * changed, so that identity tells whether a write is needed.
 */
export function setCondition(
  conditions: readonly Condition[],
  update: ConditionUpdate,
  clock: Clock,
): readonly Condition[] {
  const { type, status, reason, message = '', observedGeneration } = update;
  const current = findCondition(conditions, type);
  const next: Condition = {
    type,
    status,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    lastTransitionTime:
      current?.status === status ? current.lastTransitionTime : formatTime(clock.now()),
    reason,
    message,
  };
  if (current === undefined) return [...conditions, next];
  if (sameCondition(current, next)) return conditions;
  return conditions.map((condition) => (condition === current ? next : condition));
}

/** The condition of `type`, or undefined. */
export function findCondition<T extends { readonly type: string }>(
  conditions: readonly T[] | undefined,
  type: string,
): T | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether the condition of `type` is there with status `True`. */
export function isConditionTrue(
  conditions: readonly { readonly type: string; readonly status: string }[] | undefined,
  type: string,
): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

function sameCondition(one: Condition, other: Condition): boolean {
  return (
    one.status === other.status &&
    one.reason === other.reason &&
    one.message === other.message &&
    one.observedGeneration === other.observedGeneration
  );
}
