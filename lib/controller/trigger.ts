import type { CacheEvent } from '../cache/informer.js';
import { diffObjects, serverSetFields } from '../object/diff-by-path.js';
import { referenceTo } from '../object/object-reference.js';
import type { ObjectReference } from '../object/object-reference.js';

/** What caused a reconcile. */
export type Trigger =
  EventTrigger | SourceTrigger | AcquiredTrigger | RequeueTrigger | RetryTrigger;

/** An object changed. */
export interface EventTrigger {
  readonly type: 'event';
  /** Where it happened. `''`: in the only cluster. */
  readonly cluster: string;
  readonly event: CacheEvent['type'];
  readonly object: ObjectReference;
  /** It existed already when the controller started. */
  readonly isInInitialList: boolean;
  /**
   * Paths of what changed, for example `spec.replicas`, without what the server sets itself; empty
   * but for an update. Computed when read.
   */
  readonly changedFields: readonly string[];
}

/** A source that watches no objects: a timer, a stream, a callback. */
export interface SourceTrigger {
  readonly type: 'source';
  readonly source: string;
}

/** The key has become this process's, which saw the object before: another was responsible for it. */
export interface AcquiredTrigger {
  readonly type: 'acquired';
}

/** The last reconcile asked for it. */
export interface RequeueTrigger {
  readonly type: 'requeue';
  readonly afterMs: number;
}

/** The last reconcile failed. */
export interface RetryTrigger {
  readonly type: 'retry';
  /** How often it has failed in a row. */
  readonly failures: number;
}

/** The trigger that `event` is. */
export function eventTrigger(event: CacheEvent, cluster = ''): EventTrigger {
  return new ObjectTrigger(event, cluster);
}

class ObjectTrigger implements EventTrigger {
  readonly type = 'event';
  readonly cluster: string;
  readonly event: CacheEvent['type'];
  readonly object: ObjectReference;
  readonly isInInitialList: boolean;
  declare readonly changedFields: readonly string[];
  readonly #event: CacheEvent;
  #changedFields: readonly string[] | undefined;

  constructor(event: CacheEvent, cluster: string) {
    this.cluster = cluster;
    this.event = event.type;
    this.object = referenceTo(event.object);
    this.isInInitialList = event.type === 'added' && event.isInInitialList;
    this.#event = event;
    Object.defineProperty(this, 'changedFields', ObjectTrigger.#changedFieldsProperty);
  }

  // Shared by all: with a function of its own each would have a shape of its own, which is slow.
  static readonly #changedFieldsProperty: PropertyDescriptor = {
    enumerable: true,
    get(this: ObjectTrigger) {
      return (this.#changedFields ??= changedFieldsOf(this.#event));
    },
  };
}

function changedFieldsOf(event: CacheEvent): readonly string[] {
  if (event.type !== 'updated') return [];
  return diffObjects(event.old, event.object, { ignore: serverSetFields }).map(({ path }) => path);
}

/** What caused the next reconcile of a key: the first few triggers, and how many there were more. */
export interface TriggerList {
  readonly triggers: readonly Trigger[];
  readonly more: number;
}

const kept = 10;

/** Remembers for each key that waits what it waits for. */
export class PendingTriggers {
  readonly #pending = new Map<string, { triggers: Trigger[]; more: number }>();
  /** Of keys that were handed out: what is added from then on is of their next reconcile. */
  readonly #handedOut = new Map<string, { triggers: Trigger[]; more: number }>();

  add(key: string, trigger: Trigger): void {
    const pending = this.#pending.get(key);
    if (pending === undefined) this.#pending.set(key, { triggers: [trigger], more: 0 });
    // Each may hold two states of an object: a key that waits long must not hold hundreds.
    else if (pending.triggers.length < kept) pending.triggers.push(trigger);
    else pending.more++;
  }

  /** `key` was handed out: what there is about it is of the reconcile that begins in a moment. */
  handOut(key: string): void {
    const pending = this.#pending.get(key);
    this.#pending.delete(key);
    if (pending !== undefined) this.#handedOut.set(key, pending);
  }

  /** Hands over what there was about `key` when it was handed out. */
  take(key: string): TriggerList {
    const pending = this.#handedOut.get(key) ?? { triggers: [], more: 0 };
    this.#handedOut.delete(key);
    // A requeue that was asked for may not be due yet: what came in before says more.
    const isOwn = ({ type }: Trigger): boolean => type === 'requeue' || type === 'retry';
    const { triggers, more } = pending;
    if (triggers.length === 1) return pending;
    return { more, triggers: triggers.toSorted((a, b) => Number(isOwn(a)) - Number(isOwn(b))) };
  }

  drop(key: string): void {
    this.#pending.delete(key);
  }

  clear(): void {
    this.#pending.clear();
    this.#handedOut.clear();
  }
}
