import { isReconcileFailed, requeueAfterOf } from '../apply/index.js';
import { isStaleWrite } from '../client/retry-on-conflict.js';
import { isApiError, isNamespaceTerminating } from '../object/api-error.js';
import type { ErrorCode } from '../system/error-codes.js';
import { isOperatorError } from '../system/operator-error.js';
import type { OperatorError } from '../system/operator-error.js';
import { InvalidResultError } from './invalid-result-error.js';

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

/** Errors that only a change of the spec, of an option or of the code can fix. */
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
    // The errors are terminal, but other results request a requeue.
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

/** Combines several failures: the most severe one decides, but one that a retry may fix causes a retry. */
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
  if (!(error instanceof Error) || bugs.some((bug) => error instanceof bug)) return true;
  return isPlaced(error) && partsOf(error, seen).some((part) => isBugIn(part, seen));
}

/** Returns the delay that the server requests, in milliseconds; 0 if it requests no delay. */
export function retryAfterMsOf(error: unknown): number {
  return longestWaitIn(error, new Set());
}

function longestWaitIn(error: unknown, seen: Set<unknown>): number {
  const own = isApiError(error) ? (error.context.retryAfterMs ?? 0) : 0;
  const waits = partsOf(error, seen).map((part) => longestWaitIn(part, seen));
  return waits.reduce((longest, wait) => Math.max(longest, wait), own);
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
