import { awaitRunning } from '../builder/index.js';
import type { Builder, NoNames } from '../builder/index.js';
import type { KubernetesObject } from '../object/index.js';
import { asError } from '../system/index.js';
import type { ObjectContext, OperatorContext } from './contexts.js';

const newBuilder = Symbol('newBuilder');
const builder = Symbol('builder');

/** A context whose builder is created on first access. */
interface BuilderContext {
  readonly [newBuilder]: () => Builder<NoNames>;
  [builder]: Builder<NoNames> | undefined;
}

// Shared by all contexts: separate functions would give each its own hidden class, which is slow.
const builderProperty: PropertyDescriptor = {
  configurable: true,
  enumerable: true,
  get(this: BuilderContext) {
    return (this[builder] ??= this[newBuilder]());
  },
};

/** Adds the property `builder` to the context of a handler; `create` is called when the handler first reads it. */
export function withBuilder<T extends KubernetesObject>(
  context: ObjectContext<T>,
  create: () => Builder<NoNames>,
): OperatorContext<T> {
  Object.defineProperty(context, newBuilder, { value: create });
  Object.defineProperty(context, builder, { value: undefined, writable: true });
  return Object.defineProperty(context, 'builder', builderProperty) as OperatorContext<T>;
}

/** Returns the builder of a context; undefined if the handler has not read it. */
export function usedBuilder<T extends KubernetesObject>(
  context: OperatorContext<T>,
): Builder<NoNames> | undefined {
  return (context as OperatorContext<T> & BuilderContext)[builder];
}

/**
 * Calls a handler with `context`, and waits for the chains that the handler did not await.
 * @throws what the handler throws, or else the first error of these chains
 */
export async function awaitingChains<T extends KubernetesObject, R>(
  context: OperatorContext<T>,
  handle: () => Promise<R> | R,
): Promise<R> {
  let late: readonly PromiseSettledResult<unknown>[] = [];
  let answer: R;
  try {
    answer = await handle();
  } finally {
    const used = usedBuilder(context);
    if (used !== undefined) late = await awaitRunning(used);
    if (late.length > 0) {
      const remedy = 'await each reconcile method of a chain';
      context.logger.warn(`the handler returned before its chain had ended; ${remedy}`);
    }
  }
  for (const end of late) if (end.status === 'rejected') throw asError(end.reason);
  return answer;
}
