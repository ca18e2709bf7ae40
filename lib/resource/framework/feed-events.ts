import type { KubernetesObject } from '../../object/kubernetes-object.js';

/** What an informer of one's own tells. */
export interface FrameworkEvents<T extends KubernetesObject> {
  /** Objects that were deleted. @defaultValue none */
  readonly deletes?: AsyncIterable<T> | undefined;
  /** Objects that were created or changed. @defaultValue none */
  readonly updates?: AsyncIterable<T> | undefined;
  /** What went wrong in the informer. @defaultValue none */
  readonly errors?: AsyncIterable<unknown> | undefined;
}

/** Who is told what the streams bring. */
export interface EventVisitor<T extends KubernetesObject> {
  readonly updated: (object: T) => Promise<void>;
  readonly deleted: (object: T) => Promise<void>;
  readonly failed: (error: unknown) => void;
}

/**
 * Tells `visitor` what the streams bring until `signal` is aborted, though they may end before.
 * @throws what a stream throws; the others are left then.
 */
export async function feedEvents<T extends KubernetesObject>(
  { deletes, updates, errors }: FrameworkEvents<T>,
  { updated, deleted, failed }: EventVisitor<T>,
  signal: AbortSignal,
): Promise<void> {
  const left = new AbortController();
  const over = AbortSignal.any([signal, left.signal]);
  const streams = [
    each(deletes, deleted, over),
    each(updates, updated, over),
    each(errors, failed, over),
    whenAborted(over),
  ];
  try {
    await Promise.all(streams);
  } finally {
    left.abort();
    await Promise.allSettled(streams);
  }
}

async function each<Item>(
  items: AsyncIterable<Item> | undefined,
  visit: (item: Item) => Promise<void> | void,
  signal: AbortSignal,
): Promise<void> {
  if (items === undefined || signal.aborted) return;
  const iterator = items[Symbol.asyncIterator]();
  const isOver = whenAborted(signal).then(() => undefined);
  for (;;) {
    // A stream that brings nothing must not hold the end back.
    const next = await Promise.race([iterator.next(), isOver]);
    if (next === undefined) break;
    if (next.done === true) return;
    await visit(next.value);
  }
  // Not waited for: a generator that waits for its next item ends only with that.
  void iterator.return?.().then(undefined, () => undefined);
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
