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
  /** CamelCase, never empty, at most 1,024 characters. */
  readonly reason: string;
  /** For people; may be empty. At most 32,768 characters. */
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
 * changed, so that identity tells whether a write is needed. Reason and message are made to fit
 * metav1.Condition, which refuses the whole status otherwise: see `conditionReason`.
 */
export function setCondition(
  conditions: readonly Condition[],
  update: ConditionUpdate,
  clock: Clock,
): readonly Condition[] {
  const { type, status, reason, message = '', observedGeneration } = update;
  const next = {
    type,
    status,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    reason: conditionReason(reason),
    message: cutCharacters(message, longestMessage),
  };
  const current = findCondition(conditions, type);
  const isSame = current !== undefined && sameCondition(current, next);
  return isSame ? conditions : placeCondition<Condition>(conditions, next, clock);
}

/** A condition of any shape. */
export interface AnyCondition extends Pick<Condition, 'type' | 'status'> {
  readonly lastTransitionTime?: string;
}

/**
 * The conditions with `next` in the place of the one of its type, else at the end.
 * `lastTransitionTime` moves only when the status flips.
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
const longestMessage = 32_768;

/**
 * `text` as the reason of a condition: `no space left` is `noSpaceLeft`. What begins with no letter begins
 * with `Reason`.
 */
export function conditionReason(text: string): string {
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

/** `text`, cut to `length` UTF-16 units, and not within a character: the server would store another one. */
export function cutCharacters(text: string, length: number): string {
  return text.length > length ? text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '') : text;
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

function sameCondition(one: Condition, other: Omit<Condition, 'lastTransitionTime'>): boolean {
  return (
    one.status === other.status &&
    one.reason === other.reason &&
    one.message === other.message &&
    one.observedGeneration === other.observedGeneration
  );
}
