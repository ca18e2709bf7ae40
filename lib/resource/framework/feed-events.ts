import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { whenAborted } from '../../system/when-aborted.js';

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
  /** Told what the clean-up of a stream that was left has failed with; perhaps after the end. */
  readonly cleanUpFailed: (error: unknown) => void;
}

/**
 * Tells `visitor` what the streams bring until `signal` is aborted, though they may end before.
 * @throws what a stream throws; the others are left then.
 */
export async function feedEvents<T extends KubernetesObject>(
  { deletes, updates, errors }: FrameworkEvents<T>,
  { updated, deleted, failed, cleanUpFailed }: EventVisitor<T>,
  signal: AbortSignal,
): Promise<void> {
  const left = new AbortController();
  const over = AbortSignal.any([signal, left.signal]);
  const streams = [
    each(deletes, { visit: deleted, cleanUpFailed }, over),
    each(updates, { visit: updated, cleanUpFailed }, over),
    each(errors, { visit: failed, cleanUpFailed }, over),
    whenAborted(over),
  ];
  try {
    await Promise.all(streams);
  } finally {
    left.abort();
    await Promise.allSettled(streams);
  }
}

interface ItemVisitor<Item> extends Pick<EventVisitor<never>, 'cleanUpFailed'> {
  readonly visit: (item: Item) => Promise<void> | void;
}

async function each<Item>(
  items: AsyncIterable<Item> | undefined,
  { visit, cleanUpFailed }: ItemVisitor<Item>,
  signal: AbortSignal,
): Promise<void> {
  if (items === undefined || signal.aborted) return;
  const iterator = items[Symbol.asyncIterator]();
  const nextItem = untilAborted(() => iterator.next(), signal);
  for (;;) {
    const next = await nextItem();
    if (next?.done === true) return;
    if (next === undefined) break;
    try {
      await visit(next.value);
    } catch (error) {
      leave(iterator, cleanUpFailed);
      throw error;
    }
  }
  leave(iterator, cleanUpFailed);
}

/** Not waited for: a generator that waits for its next item ends only with that. */
function leave<Item>(iterator: AsyncIterator<Item>, cleanUpFailed: (error: unknown) => void): void {
  const left = Promise.resolve().then(() => iterator.return?.());
  left.catch(cleanUpFailed);
}

/**
 * Calls `call` again and again, and waits no longer than until `signal` is aborted: a stream that
 * brings nothing must not hold the end back. A race of promises would keep every item until then.
 */
function untilAborted<R>(
  call: () => Promise<R>,
  signal: AbortSignal,
): () => Promise<R | undefined> {
  let giveUp = (): void => undefined;
  signal.addEventListener('abort', () => giveUp(), { once: true });
  return () =>
    new Promise((resolve, reject) => {
      giveUp = () => resolve(undefined);
      if (signal.aborted) giveUp();
      else call().then(resolve, reject);
    });
}
