import type { KubernetesObject } from '../object/kubernetes-object.js';
import { OperatorError } from '../system/operator-error.js';
import type { Mapped } from './handlers.js';
import type { ReconcileKey } from './reconcile-key.js';
import type { EnqueueOptions, SourceContext } from './source.js';
import { isThenable } from './thenable.js';

/** Accepts keys, and reports errors about them. */
export type MappedContext = Pick<SourceContext, 'enqueue' | 'failed'>;

/** The cause of a mapper's call. */
export interface MappedCause {
  readonly request: EnqueueOptions;
  /** The object, for the log. */
  readonly object?: KubernetesObject | undefined;
}

/**
 * Enqueues the keys that `map` returns. Errors are reported per key: one invalid key does not block the valid
 * ones.
 * @returns a promise only if `map` returned one
 */
export function enqueueMapped(
  map: () => Mapped,
  context: MappedContext,
  cause: MappedCause,
): Promise<void> | undefined {
  try {
    const answer = map();
    if (isThenable(answer)) return enqueueLater(answer, context, cause);
    // Enqueue synchronously if possible, so that keys keep the order of events.
    enqueueKeys(answer, context, cause);
  } catch (error) {
    context.failed('mapper', error, cause.object);
  }
  return undefined;
}

async function enqueueLater(
  answer: PromiseLike<readonly ReconcileKey[]>,
  context: MappedContext,
  cause: MappedCause,
): Promise<void> {
  try {
    enqueueKeys(await answer, context, cause);
  } catch (error) {
    context.failed('mapper', error, cause.object);
  }
}

/**
 * Enqueues keys.
 * @returns the number of accepted keys; keys of another replica are not accepted
 * @throws OperatorError `InvalidValue`: `keys` is not an array.
 */
export function enqueueKeys(
  keys: readonly ReconcileKey[],
  context: MappedContext,
  { request, object }: MappedCause,
): number {
  // A string is iterable and has a length too.
  if (!Array.isArray(keys)) {
    const message = `a mapper has to return an array of keys, this one returned ${nameOf(keys)}`;
    throw new OperatorError('InvalidValue', message);
  }
  let taken = 0;
  for (const key of keys as readonly ReconcileKey[]) {
    try {
      if (context.enqueue(key, request)) taken++;
    } catch (error) {
      context.failed('mapper', error, object);
    }
  }
  return taken;
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
