import { InvalidResultError } from './invalid-result-error.js';

/**
 * The next step after a successful reconcile. A reconciler that throws is retried with back-off, unless the
 * error is terminal.
 */
export type Result = Done | RequeueAfter;

/** Reconciles again when something changes. Resets the key's back-off. */
export interface Done {
  readonly type: 'done';
}

/** Reconciles again after `afterMs`, or sooner if something changes. Resets the key's back-off. */
export interface RequeueAfter {
  readonly type: 'requeueAfter';
  readonly afterMs: number;
  /** The reason for the wait; an `Operator` shows it in the object's conditions. */
  readonly message?: string | undefined;
}

const doneResult: Done = Object.freeze({ type: 'done' });

/** Returns the result that reconciles again only when something changes. */
export function done(): Done {
  return doneResult;
}

/**
 * Returns the result that reconciles again after `afterMs` milliseconds.
 * @param message - the reason for the wait, shown in the object's conditions. Without a message the object
 *   counts as ready and is only checked again.
 * @throws OperatorError `InvalidOption`: `afterMs` is not above 0. To retry at once, throw an error.
 */
export function requeueAfter(afterMs: number, message?: string): RequeueAfter {
  return checkedResult({
    type: 'requeueAfter',
    afterMs,
    ...(message !== undefined && { message }),
  });
}

/**
 * Checks and returns `result`, which may be a literal object.
 * @throws OperatorError `InvalidOption`: the delay is not above 0.
 */
export function checkedResult<T extends Result>(result: T): T {
  if (result.type === 'done') return result;
  const afterMs: unknown = result.afterMs;
  if (typeof afterMs === 'number' && afterMs > 0) return result;
  const got = typeof afterMs === 'number' ? afterMs : `a value of type ${typeof afterMs}`;
  throw new InvalidResultError(`requeueAfter: want more than 0 ms, got ${got}`);
}

/** Describes an invalid {@link Result} in a message, without its values. */
export function shapeOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value !== 'object') return `a ${typeof value}`;
  const { name = 'Object' } = (value.constructor as { readonly name?: string } | undefined) ?? {};
  if (name !== 'Object') return `a value of class ${name}`;
  const fields = Object.keys(value).slice(0, 5).join(', ');
  return fields === '' ? 'an object without fields' : `an object with ${fields}`;
}

/** Returns true if `value` is a {@link Result}. */
export function isResult(value: unknown): value is Result {
  const { type } = (value ?? {}) as Partial<Result>;
  return type === 'done' || type === 'requeueAfter';
}
