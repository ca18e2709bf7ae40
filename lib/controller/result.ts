import { InvalidResultError } from './invalid-result-error.js';

/**
 * What a reconcile wants to happen next. Throwing is the third way: the key is tried again after a
 * growing delay (not where the error is terminal).
 */
export type Result = Done | RequeueAfter;

/** Nothing until something changes. The key's back-off is over. */
export interface Done {
  readonly type: 'done';
}

/** Again after `afterMs`, or sooner if something changes. The key's back-off is over. */
export interface RequeueAfter {
  readonly type: 'requeueAfter';
  readonly afterMs: number;
  /** What the object waits for; an `Operator` shows it in the object's conditions. */
  readonly message?: string | undefined;
}

const doneResult: Done = Object.freeze({ type: 'done' });

/** Nothing to do until something changes. */
export function done(): Done {
  return doneResult;
}

/**
 * Again after `afterMs` milliseconds.
 * @param message - what the object waits for, for its conditions; without it the object is ready, and
 * only looked at again
 * @throws OperatorError `InvalidOption`: `afterMs` is not above 0. To try again at once is to throw.
 */
export function requeueAfter(afterMs: number, message?: string): RequeueAfter {
  return checkedResult({
    type: 'requeueAfter',
    afterMs,
    ...(message !== undefined && { message }),
  });
}

/**
 * `result`, which may be one that was written by hand.
 * @throws OperatorError `InvalidOption`: its wait is not above 0.
 */
export function checkedResult<T extends Result>(result: T): T {
  if (result.type === 'done') return result;
  const afterMs: unknown = result.afterMs;
  if (typeof afterMs === 'number' && afterMs > 0) return result;
  const got = typeof afterMs === 'number' ? afterMs : `a value of type ${typeof afterMs}`;
  throw new InvalidResultError(`requeueAfter: want more than 0 ms, got ${got}`);
}

/** What a handler returned in place of a {@link Result}, for a message: never the values in it. */
export function shapeOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value !== 'object') return `a ${typeof value}`;
  const { name = 'Object' } = (value.constructor as { readonly name?: string } | undefined) ?? {};
  if (name !== 'Object') return `a value of class ${name}`;
  const fields = Object.keys(value).slice(0, 5).join(', ');
  return fields === '' ? 'an object without fields' : `an object with ${fields}`;
}

/** Whether a handler returned a {@link Result}. */
export function isResult(value: unknown): value is Result {
  const { type } = (value ?? {}) as Partial<Result>;
  return type === 'done' || type === 'requeueAfter';
}
