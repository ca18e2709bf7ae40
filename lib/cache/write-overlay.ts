import type { KubernetesObject } from '../object/kubernetes-object.js';
import { keyString, keyOf } from '../object/object-key.js';
import type { Clock } from '../system/clock.js';
import type { QuarantinedObject } from './quarantine.js';
import { compareResourceVersions } from './resource-version.js';

/** What lies over the store for one key. */
type Entry<T extends KubernetesObject> =
  /** A write was answered with `object`. */
  | {
      readonly type: 'written';
      readonly object: T;
      readonly version: string;
      /** When, by the monotonic clock. */
      readonly atMs: number;
    }
  /** The object of this UID was deleted; `version` is one at which it existed. */
  | { readonly type: 'deleted'; readonly uid: string; readonly version: string }
  /** The store is known to be behind, but not what it lacks. */
  | Unsettled<T>;

interface Unsettled<T extends KubernetesObject> {
  readonly type: 'unsettled';
  /** Whether the store, which has `stored` for the key, has caught up. */
  readonly isSettled: (stored: T | undefined) => boolean;
  /** When to stop caring, by the monotonic clock. */
  readonly untilMs: number;
  /** One live read is enough. */
  readonly once: boolean;
}

/** What a reader has to know about one key. */
export type Look<T extends KubernetesObject> =
  | { readonly type: 'object'; readonly object: T }
  | { readonly type: 'quarantined'; readonly object: QuarantinedObject }
  | { readonly type: 'absent' | 'unsettled' };

/** What a {@link WriteOverlay} lies over. */
export interface Overlaid<T extends KubernetesObject> {
  /** What the watch has brought for a key. */
  stored(key: string): T | undefined;
  /** What the watch has brought for a key, where that can't be taken in. */
  quarantined(key: string): QuarantinedObject | undefined;
  /** The version up to which the watch of a namespace has come. */
  progress(namespace: string | undefined): string;
  readonly clock: Clock;
  /** Told how long after its answer the watch has passed a write, in milliseconds. */
  readonly onPassed?: ((lagMs: number) => void) | undefined;
}

/** How long a reader is told to doubt the store after a conflict. */
const doubtMs = 5_000;
/** How long a version that can't be compared is waited for: the watch may never show it. */
const incomparableMs = 60_000;

/**
 * Read-your-writes: what was written lies over the store until the watch has passed it, so that a
 * reader that has just written never sees an older state. Entries go by themselves as the watch
 * proceeds: no timer, and nothing that grows.
 *
 * Versions compare as integers within one resource type (KEP-5504). Where one is none, the key is
 * `unsettled` until the watch shows exactly that version; a reader has to wait, or to ask the server.
 */
export class WriteOverlay<T extends KubernetesObject> {
  readonly #overlaid: Overlaid<T>;
  readonly #entries = new Map<string, Entry<T>>();

  constructor(overlaid: Overlaid<T>) {
    this.#overlaid = overlaid;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** A write was answered with `object`. */
  written(object: T): void {
    const key = keyString(keyOf(object));
    const { uid, resourceVersion: version = '', namespace } = object.metadata;
    // Answers of two writes can arrive in any order.
    const known = this.#entries.get(key);
    if (known?.type === 'written' && !isAfter(version, known.version)) return;
    if (known?.type === 'deleted' && known.uid === uid) return;
    if (this.#isPassed(namespace, version)) {
      this.#overlaid.onPassed?.(0);
      return;
    }
    const atMs = this.#overlaid.clock.monotonicMs();
    if (isComparable(version)) this.#entries.set(key, { type: 'written', object, version, atMs });
    else this.touched(key, version);
  }

  /** `key` was changed to `version`, by a call whose answer does not show the object. */
  touched(key: string, version: string): void {
    this.#doubt(
      key,
      incomparableMs,
      (stored) =>
        this.#isPassed(namespaceOf(key), version) || stored?.metadata.resourceVersion === version,
    );
  }

  /** The object of `key` is gone; of which UID, the caller may know. */
  deleted(key: string, knownUid?: string): void {
    const known = this.#entries.get(key);
    const object = known?.type === 'written' ? known.object : this.#overlaid.stored(key);
    const { uid, resourceVersion: version = '' } = object?.metadata ?? {};
    if (uid === undefined || (knownUid !== undefined && knownUid !== uid)) return;
    this.#entries.set(key, { type: 'deleted', uid, version });
  }

  /** The object of `key`, of this UID, was deleted with many: it is gone, or in deletion. */
  deletedWithOthers(key: string, uid: string | undefined): void {
    const known = this.#entries.get(key);
    this.#doubt(key, doubtMs, (stored) => {
      // What the store lacks because the watch has not come to it yet is not gone for that.
      const isBehind =
        known?.type === 'written' && !this.#isPassed(namespaceOf(key), known.version);
      if (isBehind) return false;
      return stored?.metadata.uid !== uid || stored?.metadata.deletionTimestamp !== undefined;
    });
  }

  /** The server refused a write to `key`: the object is another by now, or gone, or exists. */
  conflicted(key: string): void {
    const known = this.#entries.get(key);
    const seen = [known?.type === 'written' ? known.object : undefined, this.#overlaid.stored(key)];
    const isSeen = (stored: T | undefined): boolean =>
      seen.some((object) => versionOf(object) === versionOf(stored));
    this.#doubt(key, doubtMs, (stored) => !isSeen(stored));
  }

  /** A live read has shown what the store lacks: the doubt after a conflict is over. */
  settle(key: string): void {
    const entry = this.#entries.get(key);
    if (entry?.type === 'unsettled' && entry.once) this.#entries.delete(key);
  }

  /** As {@link WriteOverlay.settle}, of all keys in `namespace`; undefined: of all. */
  settleIn(namespace: string | undefined): void {
    for (const key of [...this.#entries.keys()]) {
      if (namespace === undefined || namespaceOf(key) === namespace) this.settle(key);
    }
  }

  /** What a reader sees of `key`. */
  look(key: string): Look<T> {
    const entry = this.#current(key);
    const bad = this.#overlaid.quarantined(key);
    if (bad !== undefined && !isOver(entry, bad)) return { type: 'quarantined', object: bad };
    const stored = this.#overlaid.stored(key);
    const seen = entry === undefined ? stored : through(entry, stored);
    if (seen === 'unsettled') return { type: 'unsettled' };
    return seen === undefined ? { type: 'absent' } : { type: 'object', object: seen };
  }

  /**
   * Lays what was written over `found`, a selection of the store from `namespace` or all of them.
   * @param isSelected - whether a written object belongs to the selection
   * @returns undefined where a reader has to wait
   */
  over(
    found: readonly T[],
    namespace: string | undefined,
    isSelected: (object: T) => boolean,
  ): readonly T[] | undefined {
    if (this.#entries.size === 0) return found;
    const written: T[] = [];
    for (const key of [...this.#entries.keys()]) {
      const entry = this.#current(key);
      if (namespace !== undefined && namespaceOf(key) !== namespace) continue;
      if (entry?.type === 'unsettled') return undefined;
      if (entry?.type === 'written' && isSelected(entry.object)) written.push(entry.object);
    }
    const kept = found.filter((object) => {
      const entry = this.#entries.get(keyString(keyOf(object)));
      return entry === undefined || through(entry, object) === object;
    });
    return [...kept, ...written];
  }

  /** What was written to `namespace`, or to all of them, and the watch has not shown yet. */
  unseen(namespace: string | undefined): T[] {
    return [...this.#entries.keys()].flatMap((key) => {
      const entry = this.#current(key);
      const isThere = namespace === undefined || namespaceOf(key) === namespace;
      return entry?.type === 'written' && isThere ? [entry.object] : [];
    });
  }

  /** The server was rolled back: what was written is gone, or can't be told from what is. */
  clear(): void {
    this.#entries.clear();
  }

  /** The watch has proceeded: drops what it has passed. */
  advance(): void {
    if (this.#entries.size === 0) return;
    for (const key of [...this.#entries.keys()]) {
      // Written ones stand nearly in the order in which the watch passes them: the first that it
      // has not passed ends the search, and what is left out goes another time.
      if (this.#current(key)?.type === 'written') return;
    }
  }

  #doubt(key: string, forMs: number, isSettled: (stored: T | undefined) => boolean): void {
    if (isSettled(this.#overlaid.stored(key))) return;
    const untilMs = this.#overlaid.clock.monotonicMs() + forMs;
    this.#entries.set(key, { type: 'unsettled', isSettled, untilMs, once: forMs === doubtMs });
  }

  /** The entry of `key`, unless the watch has passed it. */
  #current(key: string): Entry<T> | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || !this.#isOver(key, entry)) return entry;
    this.#entries.delete(key);
    if (entry.type === 'written') {
      this.#overlaid.onPassed?.(this.#overlaid.clock.monotonicMs() - entry.atMs);
    }
    return undefined;
  }

  #isOver(key: string, entry: Entry<T>): boolean {
    const stored = this.#overlaid.stored(key);
    switch (entry.type) {
      case 'written':
        return this.#isPassed(entry.object.metadata.namespace, entry.version);
      case 'deleted':
        // The watch is past a moment at which the object existed, and the store lacks it: it is
        // gone for good, since a UID never comes back.
        if (stored?.metadata.uid === entry.uid) return false;
        return this.#isPassed(namespaceOf(key), entry.version) || !isComparable(entry.version);
      case 'unsettled':
        return entry.isSettled(stored) || this.#overlaid.clock.monotonicMs() >= entry.untilMs;
    }
  }

  #isPassed(namespace: string | undefined, version: string): boolean {
    return (compareResourceVersions(this.#overlaid.progress(namespace), version) ?? -1) >= 0;
  }
}

function through<T extends KubernetesObject>(
  entry: Entry<T>,
  stored: T | undefined,
): T | 'unsettled' | undefined {
  switch (entry.type) {
    case 'written':
      return entry.object;
    case 'deleted':
      return stored?.metadata.uid === entry.uid ? undefined : stored;
    case 'unsettled':
      return 'unsettled';
  }
}

/** Whether `entry` is about a later state than the one that is quarantined. */
function isOver<T extends KubernetesObject>(
  entry: Entry<T> | undefined,
  bad: QuarantinedObject,
): boolean {
  return entry?.type === 'deleted' ? entry.uid === bad.uid : entry !== undefined;
}

function isComparable(version: string): boolean {
  return compareResourceVersions(version, version) !== undefined;
}

function isAfter(version: string, other: string): boolean {
  return (compareResourceVersions(version, other) ?? 1) > 0;
}

/** Tells two states of a key apart; undefined where there is no object. */
function versionOf(object: KubernetesObject | undefined): string | undefined {
  return object && `${object.metadata.uid ?? ''} ${object.metadata.resourceVersion ?? ''}`;
}

function namespaceOf(key: string): string | undefined {
  const slash = key.indexOf('/');
  return slash < 0 ? undefined : key.slice(0, slash);
}
