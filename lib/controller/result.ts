import { isReconcileFailed, requeueAfterOf } from '../apply/index.js';
import { isStaleWrite } from '../client/index.js';
import { isApiError, isNamespaceTerminating } from '../object/index.js';
import type { ErrorCode, OperatorErrorOptions } from '../system/index.js';
import {
  errorMessage,
  isOperatorError,
  OperatorError,
  refuseUnknownOptions,
} from '../system/index.js';

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
export function done(): Result {
  return doneResult;
}

/**
 * Returns the result that reconciles again after `afterMs` milliseconds.
 * @param message - the reason for the wait, shown in the object's conditions. Without a message the object
 *   counts as ready and is only checked again.
 * @throws OperatorError `InvalidOption`: `afterMs` is not above 0, or not finite. To retry at once, throw an error.
 */
export function requeueAfter(afterMs: number, message?: string): Result {
  const given: unknown = message;
  if (given !== undefined && typeof given !== 'string') {
    throw new InvalidResultError(`requeueAfter: message: want a string, got ${shapeOf(given)}`);
  }
  return checkedResult({
    type: 'requeueAfter',
    afterMs,
    ...(message !== undefined && { message }),
  });
}

/**
 * Checks and returns `result`, which may be a literal object.
 * @throws OperatorError `InvalidOption`: the delay is not above 0, or not finite.
 */
export function checkedResult<T extends Result>(result: T): T {
  if (result.type === 'done') return result;
  const afterMs: unknown = result.afterMs;
  if (typeof afterMs === 'number' && afterMs > 0 && afterMs < Infinity) return result;
  const got = typeof afterMs === 'number' ? afterMs : `a value of type ${typeof afterMs}`;
  const remedy = 'return done() to wait for the next change, or throw to retry';
  throw new InvalidResultError(
    `requeueAfter: want a finite delay of more than 0 ms, got ${got}; ${remedy}`,
  );
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

/**
 * The reaction to a failed reconcile.
 *
 * - `conflict`: an object has changed since it was read; retries without an error log.
 * - `waiting`: time will fix it, for example a terminating namespace or a stale lease; retries without an
 *   error log.
 * - `terminal`: no retry, because it would fail again until something changes.
 * - `error`: retries and logs an error.
 */
export type FailureKind = 'conflict' | 'waiting' | 'terminal' | 'error';

/**
 * Errors that only a change of the spec, of an option or of the code can fix. `InvalidObject` and `InvalidSelector` are
 * not among them: a handler may take a name or selector from another object, which may have a valid one at the next
 * attempt.
 */
const terminalCodes: readonly ErrorCode[] = [
  ...(['Terminal', 'DuplicateObject', 'UnknownReference', 'InvalidOwner'] as const),
  ...(['InvalidOption', 'InvalidValue', 'TooManyDeletions'] as const),
];

/** Returns the reaction to `error`, which a reconcile threw. */
export function failureKindOf(error: unknown): FailureKind {
  return kindOf(error, new Set());
}

/** @param seen - the errors already visited: an error may contain itself */
function kindOf(error: unknown, seen: Set<unknown>): FailureKind {
  if (isReconcileFailed(error) && error.terminal) return 'terminal';
  const parts = partsOf(error, seen);
  if (parts.length > 0) {
    const kind = kindOfAll(parts.map((part) => kindOf(part, seen)));
    // All parts of the error are terminal. A retry is needed only if the results of other objects request a requeue.
    return kind === 'terminal' && asksToBeLookedAt(error) ? 'error' : kind;
  }
  if (error instanceof InvalidResultError) return 'error';
  if (isOperatorError(error) && terminalCodes.includes(error.code)) return 'terminal';
  if (isNamespaceTerminating(error) || isOperatorError(error, 'Fenced')) return 'waiting';
  return isStaleWrite(error) ? 'conflict' : 'error';
}

function asksToBeLookedAt(error: unknown): boolean {
  return isReconcileFailed(error) && requeueAfterOf(error.results) !== undefined;
}

/**
 * Errors that last until a user or another controller changes an object or installs a kind. No watch reports that
 * change, so the queue retries them.
 */
const lastingCodes: readonly ErrorCode[] = ['NotOurs', 'AlreadyOwned', 'UnknownKind'];

/** Returns true if the same code would fail again within the same reconcile, some seconds later. */
export function isLasting(error: unknown): boolean {
  return lasts(error, new Set());
}

function lasts(error: unknown, seen: Set<unknown>): boolean {
  if (failureKindOf(error) !== 'error') return true;
  const parts = partsOf(error, seen);
  if (parts.length > 0) return parts.every((part) => lasts(part, seen));
  return isOperatorError(error) && lastingCodes.includes(error.code);
}

/**
 * Combines several failures: the most severe one decides. A terminal failure among others counts as an `error`, which
 * is retried.
 */
function kindOfAll(kinds: readonly FailureKind[]): FailureKind {
  if (kinds.every((kind) => kind === 'terminal')) return 'terminal';
  if (kinds.includes('error') || kinds.includes('terminal')) return 'error';
  return kinds.includes('conflict') ? 'conflict' : 'waiting';
}

/** Returns true if `error` is a bug in the reconciler's code, like a panic in Go. */
export function isBug(error: unknown): boolean {
  return isBugIn(error, new Set());
}

function isBugIn(error: unknown, seen: Set<unknown>): boolean {
  const bugs = [TypeError, ReferenceError, RangeError, SyntaxError];
  // `fetch` reports a broken connection as a TypeError with that failure as its cause.
  if (error instanceof TypeError && error.cause instanceof Error && !seen.has(error.cause)) {
    seen.add(error);
    return isBugIn(error.cause, seen);
  }
  if (!(error instanceof Error) || bugs.some((bug) => error instanceof bug)) return true;
  return isPlaced(error) && partsOf(error, seen).some((part) => isBugIn(part, seen));
}

/**
 * Returns the delay that `error` requests, in milliseconds; 0 without one. A server requests it by `Retry-After`, other
 * errors by their field `retryAfterMs`.
 */
export function retryAfterMsOf(error: unknown): number {
  return longestWaitIn(error, new Set());
}

function longestWaitIn(error: unknown, seen: Set<unknown>): number {
  const waits = partsOf(error, seen).map((part) => longestWaitIn(part, seen));
  return waits.reduce((longest, wait) => Math.max(longest, wait), ownWaitOf(error));
}

function ownWaitOf(error: unknown): number {
  if (isApiError(error)) return error.context.retryAfterMs ?? 0;
  const { retryAfterMs } = (error instanceof Error ? error : {}) as {
    readonly retryAfterMs?: unknown;
  };
  return Number.isFinite(retryAfterMs) ? Math.max(0, retryAfterMs as number) : 0;
}

/** Returns true if `error` only adds the place where its cause was thrown. */
function isPlaced(error: unknown): error is OperatorError {
  return isOperatorError(error, 'ResourceFailed');
}

/**
 * Returns the parts of `error` that are not yet in `seen`: the errors of an AggregateError or of a
 * `ReconcileFailed`, or the cause of a `ResourceFailed`. It adds `error` to `seen`.
 */
function partsOf(error: unknown, seen: Set<unknown>): readonly unknown[] {
  seen.add(error);
  if (isPlaced(error)) return seen.has(error.cause) ? [] : [error.cause];
  if (!(error instanceof Error) || !('errors' in error) || !Array.isArray(error.errors)) return [];
  // Objects skipped because of another object's failure add no information.
  return (error.errors as unknown[]).filter(
    (part) => !seen.has(part) && !isOperatorError(part, 'DependencyFailed'),
  );
}

/** Options of {@link TerminalError}. */
export interface TerminalErrorOptions extends OperatorErrorOptions {
  /**
   * The reason in the conditions and the Event of an `Operator`, in CamelCase, for example `InvalidSpec`.
   * @defaultValue the reason of the cause, else `ReconcileFailed`
   */
  readonly reason?: string | undefined;
}

/**
 * Thrown by a reconciler that can't succeed until something changes. It is counted and logged, but not
 * retried.
 */
export class TerminalError extends OperatorError {
  readonly reason: string | undefined;

  /** @throws OperatorError `InvalidOption`: an option is unknown, or the reason is invalid for a condition. */
  constructor(message: string, options: TerminalErrorOptions = {}) {
    const given: unknown = options;
    if (typeof given !== 'object' || given === null) {
      const got = typeof given === 'string' ? JSON.stringify(given) : shapeOf(given);
      const problem = `TerminalError: want options such as { reason: 'InvalidSpec' }, got ${got}`;
      throw new OperatorError('InvalidOption', problem);
    }
    const { reason, ...others } = options;
    const names = { reason: true, cause: true } as const;
    refuseUnknownOptions<TerminalErrorOptions>('TerminalError', options, names, { retryAfterMs });
    super('Terminal', message, others);
    // The API server's pattern for the reasons of conditions.
    if (reason !== undefined && !/^[A-Za-z]([\w,:]{0,1022}\w)?$/.test(reason)) {
      const problem = `TerminalError: reason ${JSON.stringify(reason)}: want CamelCase, such as InvalidSpec`;
      throw new OperatorError('InvalidOption', problem);
    }
    this.reason = reason;
  }

  /**
   * Refuses `retryAfterMs`, by which other errors request a delay: a terminal error is not retried.
   * @throws OperatorError `InvalidOption`
   */
  set retryAfterMs(delay: undefined) {
    const given: unknown = delay;
    if (given === undefined) return;
    throw new OperatorError('InvalidOption', `TerminalError: retryAfterMs: ${retryAfterMs}`);
  }
}

const retryAfterMs = 'a terminal error is not retried; throw an Error with retryAfterMs instead';

/**
 * `InvalidOption`: a reconciler's return value is not a result, or its delay is invalid. Unlike after other invalid
 * options, the reconcile is retried: a delay until a time that has just passed is invalid, but the next computed delay
 * may be valid.
 */
export class InvalidResultError extends OperatorError {
  constructor(message: string) {
    super('InvalidOption', message);
  }
}

/**
 * Thrown by a reconciler that fails with `cause` and must run again after `afterMs` at the latest, even if the
 * cause is terminal.
 */
export class UnfinishedFailure extends Error {
  readonly afterMs: number;

  constructor(cause: unknown, afterMs: number) {
    super('the failure is not shown yet', { cause });
    this.afterMs = afterMs;
  }
}

/**
 * Returns `error`, or a substitute if it can't be read: a getter throws, the message can't be converted to a string, or
 * the error is a proxy. A logger would throw on such an error, and would leave out an undefined one. The substitute for
 * an error about a frozen object names the remedy.
 */
export function readableError(error: unknown): unknown {
  // Return a TypeError: like a thrown value that is not an error, it counts as a bug of the handler.
  if (error === undefined || error === null || error === '') {
    return new TypeError(errorMessage(error));
  }
  try {
    read(error, new Set());
    return isAboutFrozen(error) ? frozenError(error) : error;
  } catch {
    // The exception that reading `error` throws may be unreadable too.
    return new Error('threw an unreadable value: a proxy, or an object whose getter throws');
  }
}

/** The messages of V8 about a change of a frozen object or array. */
const frozenMessage =
  /^Cannot (?:assign to read only property .* of object|(?:add|define) property .*, object is not extensible|delete property .* of (?:#<|\[object))/;
const frozenRemedy =
  'objects that a client returns are frozen if a cache shares them: change a copy, made by structuredClone';

function isAboutFrozen(error: unknown): error is TypeError {
  if (!(error instanceof TypeError) || error.constructor !== TypeError) return false;
  return frozenMessage.test(error.message) && !error.message.includes(frozenRemedy);
}

/** Returns the error with the remedy, and with the place in the user's code. */
function frozenError(cause: TypeError): TypeError {
  const message = `${cause.message}; ${frozenRemedy}`;
  const error = new TypeError(message, { cause });
  if (cause.stack !== undefined) error.stack = cause.stack.replace(cause.message, () => message);
  return error;
}

/**
 * Reads all fields that loggers, tracers and this library read.
 * @throws any exception from reading them
 */
function read(error: unknown, seen: Set<unknown>): void {
  if (typeof error !== 'object' || error === null || seen.has(error)) return;
  seen.add(error);
  const { name, message, stack, code, cause, errors } = error as Readonly<Record<string, unknown>>;
  if (error instanceof Error) for (const text of [name, message, stack, code]) String(text);
  // Type guards such as `isOperatorError` use `in`, which calls the same trap of a proxy as `Reflect.has`.
  Reflect.has(error, 'code');
  Reflect.get(error, 'retryAfterMs');
  read(cause, seen);
  if (Array.isArray(errors)) for (const part of errors) read(part, seen);
}
