import type { KubernetesObject, ObjectKey } from '../../object/index.js';
import { whenAborted } from '../../system/index.js';
import type { Source, SourceContext } from '../../controller/index.js';

/** Event streams of an informer that the caller runs. */
export interface FrameworkEvents<T extends KubernetesObject> {
  /** Deleted objects. @defaultValue no stream */
  readonly deletes?: AsyncIterable<T> | undefined;
  /** Created or changed objects. @defaultValue no stream */
  readonly updates?: AsyncIterable<T> | undefined;
  /** Errors of the informer. @defaultValue no stream */
  readonly errors?: AsyncIterable<unknown> | undefined;
}

/** Handlers for the items of the streams. */
export interface EventVisitor<T extends KubernetesObject> {
  readonly updated: (object: T) => Promise<void>;
  readonly deleted: (object: T) => Promise<void>;
  readonly failed: (error: unknown) => void;
  /** Called with the error of cleaning up an abandoned stream; may run after `feedEvents` has settled. */
  readonly cleanUpFailed: (error: unknown) => void;
}

/**
 * Passes the items of the streams to `visitor` until `signal` is aborted, even if all streams end earlier.
 * @throws the error of a stream or a handler; the other streams are abandoned then.
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

/** Does not wait: a generator that waits for its next item returns only after that item. */
function leave<Item>(iterator: AsyncIterator<Item>, cleanUpFailed: (error: unknown) => void): void {
  const left = Promise.resolve().then(() => iterator.return?.());
  left.catch(cleanUpFailed);
}

/**
 * Returns a function that calls `call` and stops waiting when `signal` is aborted: a silent stream must not
 * delay the end. `Promise.race` would retain every item until then.
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

/** A source that enqueues keys when its methods are called. */
export interface ManualSource extends Source {
  /** Whether a running controller uses the source. */
  readonly isRunning: boolean;
  /** Enqueues `key`. @returns false if no running controller uses the source */
  enqueue(key: ObjectKey): boolean;
}

export function manualSource(name: string): ManualSource {
  const contexts = new Set<SourceContext>();
  const trigger = { type: 'source', source: name } as const;
  return {
    name,
    get isRunning() {
      return contexts.size > 0;
    },
    start: (context) => {
      contexts.add(context);
      return { stop: () => void contexts.delete(context) };
    },
    enqueue: (key) => {
      for (const context of contexts) context.enqueue(key, { trigger });
      return contexts.size > 0;
    },
  };
}
