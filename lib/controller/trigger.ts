import type { CacheEvent } from '../cache/index.js';
import { diffObjects, serverSetFields, referenceTo } from '../object/index.js';
import type { ObjectReference } from '../object/index.js';
import type { Clock } from '../system/index.js';

/** The cause of a reconcile. */
export type Trigger =
  EventTrigger | SourceTrigger | AcquiredTrigger | RequeueTrigger | RetryTrigger;

/** An object changed. */
export interface EventTrigger {
  readonly type: 'event';
  /** The cluster of the event; `''` for the only one. */
  readonly cluster: string;
  readonly event: CacheEvent['type'];
  readonly object: ObjectReference;
  /** True if the object already existed when the controller started. */
  readonly isInInitialList: boolean;
  /**
   * The paths of changed fields, for example `spec.replicas`, without fields that the server sets. Empty
   * except for an update. Computed on first access.
   */
  readonly changedFields: readonly string[];
}

/** A source that watches no objects: a timer, a stream, a callback. */
export interface SourceTrigger {
  readonly type: 'source';
  readonly source: string;
}

/** This process acquired the key, for which another process was responsible before. */
export interface AcquiredTrigger {
  readonly type: 'acquired';
}

/** The delay that the previous reconcile requested has passed. */
export interface RequeueTrigger {
  readonly type: 'requeue';
  readonly afterMs: number;
}

/** The previous reconcile failed. Present even if another trigger starts this one before the back-off ends. */
export interface RetryTrigger {
  readonly type: 'retry';
  /** The number of consecutive failures. */
  readonly failures: number;
}

/** Returns the trigger of `event`. */
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
  /** Undefined unless the event is an update: a trigger may wait long, and must not hold an object in memory. */
  readonly #update: CacheEvent | undefined;
  #changedFields: readonly string[] | undefined;

  constructor(event: CacheEvent, cluster: string) {
    this.cluster = cluster;
    this.event = event.type;
    this.object = referenceTo(event.object);
    this.isInInitialList = event.type === 'added' && event.isInInitialList;
    this.#update = event.type === 'updated' ? event : undefined;
    Object.defineProperty(this, 'changedFields', ObjectTrigger.#changedFieldsProperty);
  }

  // Shared by all triggers: separate functions would give each its own hidden class, which is slow.
  static readonly #changedFieldsProperty: PropertyDescriptor = {
    enumerable: true,
    get(this: ObjectTrigger) {
      return (this.#changedFields ??= changedFieldsOf(this.#update));
    },
  };
}

function changedFieldsOf(event: CacheEvent | undefined): readonly string[] {
  if (event?.type !== 'updated') return [];
  return diffObjects(event.old, event.object, { ignore: serverSetFields }).map(({ path }) => path);
}

/** The causes of the next reconcile of a key: the first triggers, and the number of further ones. */
export interface TriggerList {
  readonly triggers: readonly Trigger[];
  readonly more: number;
}

/**
 * The maximum number of triggers kept for each key. It limits the memory, since a trigger may hold two states of an
 * object.
 */
const kept = 10;

/** The triggers of each waiting key. */
export class PendingTriggers {
  /** False in a standby: its keys may wait for days, so events after the initial list are counted, not kept. */
  isActivated = false;
  readonly #clock: Clock;
  readonly #pending = new Map<string, { triggers: Trigger[]; more: number }>();
  /** The triggers of keys already handed out; later ones belong to the next reconcile. */
  readonly #handedOut = new Map<string, { triggers: Trigger[]; more: number }>();
  /** The requested requeue of each key, with its due time by the monotonic clock. */
  readonly #requeues = new Map<string, { trigger: RequeueTrigger; dueMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(key: string, trigger: Trigger): void {
    const pending = this.#pending.get(key);
    if (pending === undefined) this.#pending.set(key, { triggers: [trigger], more: 0 });
    else if (pending.triggers.length < kept && (this.isActivated || isOfStart(trigger))) {
      pending.triggers.push(trigger);
    } else {
      pending.more++;
      // Always keep a retry trigger, so that the triggers of the next reconcile show that it is a retry.
      if (trigger.type === 'retry') pending.triggers[kept - 1] = trigger;
    }
  }

  /**
   * Adds a requeue, which counts only if the next reconcile starts after its delay. Call it before the key is
   * queued, so that the requeue is due when the queue hands the key out.
   */
  addRequeue(key: string, trigger: RequeueTrigger): void {
    this.#requeues.set(key, { trigger, dueMs: this.#clock.monotonicMs() + trigger.afterMs });
  }

  /** Assigns the triggers of `key` so far to the reconcile that is about to start. */
  handOut(key: string): void {
    const requeue = this.#requeues.get(key);
    this.#requeues.delete(key);
    if (requeue !== undefined && requeue.dueMs <= this.#clock.monotonicMs()) {
      this.add(key, requeue.trigger);
    }
    const pending = this.#pending.get(key);
    this.#pending.delete(key);
    if (pending !== undefined) this.#handedOut.set(key, pending);
  }

  /** Returns and removes the triggers assigned to `key` when it was handed out. */
  take(key: string): TriggerList {
    const pending = this.#handedOut.get(key) ?? { triggers: [], more: 0 };
    this.#handedOut.delete(key);
    // Retries come last: a retry may not be due yet, so the other triggers explain the reconcile better.
    const isRetry = ({ type }: Trigger): boolean => type === 'retry';
    const { triggers, more } = pending;
    if (triggers.length === 1) return pending;
    return { more, triggers: triggers.toSorted((a, b) => Number(isRetry(a)) - Number(isRetry(b))) };
  }

  drop(key: string): void {
    this.#pending.delete(key);
    this.#requeues.delete(key);
  }

  clear(): void {
    this.#pending.clear();
    this.#handedOut.clear();
    this.#requeues.clear();
  }
}

/** Returns true for a trigger without an event, and for the event of an object that existed at the start. */
function isOfStart(trigger: Trigger): boolean {
  return trigger.type !== 'event' || trigger.isInInitialList;
}
