import type { KubernetesObject } from '../object/kubernetes-object.js';
import { OperatorError } from '../system/operator-error.js';
import type { Mapped } from './handlers.js';
import type { ReconcileKey } from './reconcile-key.js';
import type { EnqueueOptions, SourceContext } from './source.js';
import { isThenable } from './thenable.js';

/** What is done with keys, and with what is wrong with them. */
export type MappedContext = Pick<SourceContext, 'enqueue' | 'failed'>;

/** What a mapper's answer is about. */
export interface MappedCause {
  readonly request: EnqueueOptions;
  /** For the log. */
  readonly object?: KubernetesObject | undefined;
}

/**
 * Enqueues what `map` says. What is wrong is told to the context, key by key: one bad key keeps no
 * good one out. @returns a promise only where the answer is one
 */
export function enqueueMapped(
  map: () => Mapped,
  context: MappedContext,
  cause: MappedCause,
): Promise<void> | undefined {
  try {
    const answer = map();
    if (isThenable(answer)) return enqueueLater(answer, context, cause);
    // No turn is given away where there is nothing to wait for: keys come in the order of events.
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
 * @returns how many were taken: not those that another replica owns
 * @throws OperatorError `InvalidValue`: `keys` is no array.
 */
export function enqueueKeys(
  keys: readonly ReconcileKey[],
  context: MappedContext,
  { request, object }: MappedCause,
): number {
  // A text is iterable, too, and has a length.
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
