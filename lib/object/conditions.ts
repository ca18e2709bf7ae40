import { cutCharacters } from '../system/index.js';
import type { Clock } from '../system/index.js';
import { formatTime } from './micro-time.js';

/** One aspect of an object's state; metav1.Condition. */
export interface Condition {
  /** CamelCase, optionally with a prefix, for example `Ready`; unique in each list. */
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** The `metadata.generation` that the condition describes. */
  readonly observedGeneration?: number;
  /** The time of the last change of `status`: RFC 3339, whole seconds. */
  readonly lastTransitionTime: string;
  /** CamelCase, never empty, at most 1,024 characters. */
  readonly reason: string;
  /** A message for people; may be empty. At most 32,768 characters. */
  readonly message: string;
}

/** The new state of a {@link Condition}. */
export interface ConditionUpdate extends Omit<
  Condition,
  'lastTransitionTime' | 'message' | 'observedGeneration'
> {
  /** The `metadata.generation` that the condition describes. */
  readonly observedGeneration?: number | undefined;
  /** A message for people. @defaultValue '' */
  readonly message?: string | undefined;
}

/**
 * Returns the conditions with `update`, which replaces the condition of its type or is appended. `lastTransitionTime`
 * changes only with the status. Returns the same array if nothing changed, so that the caller can skip the write.
 * Reason and message are adapted to the limits of metav1.Condition, because the server would otherwise reject the whole
 * status. The reason `no space left` becomes `noSpaceLeft`, and a reason without a letter or digit becomes `Reason`.
 */
export function setCondition(
  conditions: readonly Condition[],
  update: ConditionUpdate,
  clock: Clock,
): readonly Condition[] {
  const { type, status, observedGeneration } = update;
  const next = {
    type,
    status,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    ...conditionTexts(update),
  };
  const current = findCondition(conditions, type);
  const isSame = current !== undefined && sameCondition(current, next);
  return isSame ? conditions : placeCondition<Condition>(conditions, next, clock);
}

/** Returns the reason and the message of an update as {@link setCondition} sets them. */
export function conditionTexts({
  reason,
  message = '',
}: Pick<ConditionUpdate, 'reason' | 'message'>): Pick<Condition, 'reason' | 'message'> {
  const cut = cutCharacters(message, longestMessage).replace(loneSurrogates, '\uFFFD');
  return { reason: conditionReason(reason), message: cut };
}

/** A condition of any shape. */
export interface AnyCondition extends Pick<Condition, 'type' | 'status'> {
  readonly lastTransitionTime?: string;
}

/**
 * Returns the conditions with `next`, which replaces the condition of its type or is appended.
 * `lastTransitionTime` changes only with the status.
 */
export function placeCondition<T extends AnyCondition>(
  conditions: readonly T[],
  next: Omit<T, 'lastTransitionTime'> & Pick<T, 'type' | 'status'>,
  clock: Clock,
): readonly T[] {
  const current = findCondition(conditions, next.type);
  const before = current?.status === next.status ? current.lastTransitionTime : undefined;
  const placed = { ...next, lastTransitionTime: before ?? formatTime(clock.now()) } as T;
  if (current === undefined) return [...conditions, placed];
  return conditions.map((condition) => (condition === current ? placed : condition));
}

const longestReason = 1_024;
const validReason = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const longestMessage = 32_768;
/**
 * Matches lone surrogates, which are halves of characters. The server refuses an apply that contains one, and replaces
 * those in a patch.
 */
const loneSurrogates = /\p{Surrogate}/gu;

/**
 * Returns `text` as the reason of a condition: `no space left` becomes `noSpaceLeft`. If it does not begin
 * with a letter, it gets the prefix `Reason`.
 */
export function conditionReason(text: string): string {
  if (text.length <= longestReason && validReason.test(text)) return text;
  const words = text.split(/[^A-Za-z0-9_,:]+/).filter((word) => word !== '');
  const [first = '', ...rest] = words;
  const joined = [
    first,
    ...rest.map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`),
  ];
  const named = joined.join('');
  const reason = /^[A-Za-z]/.test(named) ? named : `Reason${named}`;
  return reason.slice(0, longestReason).replace(/[,:]+$/, '');
}

/** Returns the condition of `type`, or undefined. */
export function findCondition<T extends { readonly type: string }>(
  conditions: readonly T[] | undefined,
  type: string,
): T | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether the condition of `type` exists with status `True`. */
export function isConditionTrue(
  conditions: readonly { readonly type: string; readonly status: string }[] | undefined,
  type: string,
): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

function sameCondition(one: Condition, other: Omit<Condition, 'lastTransitionTime'>): boolean {
  return (
    one.status === other.status &&
    one.reason === other.reason &&
    one.message === other.message &&
    one.observedGeneration === other.observedGeneration
  );
}
