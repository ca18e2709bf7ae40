import { isReconcileFailed, requeueAfterOf } from '../apply/index.js';
import { isStaleWrite } from '../client/retry-on-conflict.js';
import { isApiError, isNamespaceTerminating } from '../object/api-error.js';
import type { ErrorCode } from '../system/error-codes.js';
import { isOperatorError } from '../system/operator-error.js';
import type { OperatorError } from '../system/operator-error.js';
import { InvalidResultError } from './invalid-result-error.js';

/**
 * What a failed reconcile calls for.
 *
 * - `conflict`: an object changed since it was read; a quiet retry.
 * - `waiting`: for what time will mend, as a namespace that is being deleted, or a lease that is not
 *   fresh; a quiet retry.
 * - `terminal`: no retry: it would fail in the same way, until something is changed.
 * - `error`: a retry, and a line in the log.
 */
export type FailureKind = 'conflict' | 'waiting' | 'terminal' | 'error';

/** What only a change of the spec, of an option or of the code can mend. */
const terminalCodes: readonly ErrorCode[] = [
  ...(['Terminal', 'DuplicateObject', 'UnknownReference', 'InvalidOwner'] as const),
  ...(['InvalidOption', 'InvalidValue', 'TooManyDeletions'] as const),
];

/** What `error`, thrown by a reconcile, calls for. */
export function failureKindOf(error: unknown): FailureKind {
  return kindOf(error, new Set());
}

/** @param seen - the errors that it is part of: one may contain itself */
function kindOf(error: unknown, seen: Set<unknown>): FailureKind {
  if (isReconcileFailed(error) && error.terminal) return 'terminal';
  const parts = partsOf(error, seen);
  if (parts.length > 0) {
    const kind = kindOfAll(parts.map((part) => kindOf(part, seen)));
    // Its errors are final, but it has results that ask to be looked at again.
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

/** Several failures at once are as loud as the loudest; one that may be mended is worth a retry. */
function kindOfAll(kinds: readonly FailureKind[]): FailureKind {
  if (kinds.every((kind) => kind === 'terminal')) return 'terminal';
  if (kinds.includes('error') || kinds.includes('terminal')) return 'error';
  return kinds.includes('conflict') ? 'conflict' : 'waiting';
}

/** Whether `error` is a mistake in the reconciler's code, as a panic is in Go. */
export function isBug(error: unknown): boolean {
  return isBugIn(error, new Set());
}

function isBugIn(error: unknown, seen: Set<unknown>): boolean {
  const bugs = [TypeError, ReferenceError, RangeError, SyntaxError];
  if (!(error instanceof Error) || bugs.some((bug) => error instanceof bug)) return true;
  return isPlaced(error) && partsOf(error, seen).some((part) => isBugIn(part, seen));
}

/** How long the server asks to wait, in milliseconds; 0 where it does not say. */
export function retryAfterMsOf(error: unknown): number {
  return longestWaitIn(error, new Set());
}

function longestWaitIn(error: unknown, seen: Set<unknown>): number {
  const own = isApiError(error) ? (error.context.retryAfterMs ?? 0) : 0;
  const waits = partsOf(error, seen).map((part) => longestWaitIn(part, seen));
  return waits.reduce((longest, wait) => Math.max(longest, wait), own);
}

/** Whether `error` says no more than where its cause was thrown. */
function isPlaced(error: unknown): error is OperatorError {
  return isOperatorError(error, 'ResourceFailed');
}

/**
 * The errors that `error` stands for: those of an AggregateError, or of a `ReconcileFailed`, and the
 * cause of a `ResourceFailed`; without those that were seen. It counts as seen from now on.
 */
function partsOf(error: unknown, seen: Set<unknown>): readonly unknown[] {
  seen.add(error);
  if (isPlaced(error)) return seen.has(error.cause) ? [] : [error.cause];
  if (!(error instanceof Error) || !('errors' in error) || !Array.isArray(error.errors)) return [];
  // What was left alone since another object failed says nothing of its own.
  return (error.errors as unknown[]).filter(
    (part) => !seen.has(part) && !isOperatorError(part, 'DependencyFailed'),
  );
}
