import type { KubernetesObject } from '../object/index.js';
import { keyString, keyOf } from '../object/index.js';
import type { Clock } from '../system/index.js';
import type { QuarantinedObject } from './quarantine.js';
import { compareResourceVersions } from './resource-version.js';

/** The overlay of the store for one key. */
type Entry<T extends KubernetesObject> =
  /** A write returned `object`. */
  | {
      readonly type: 'written';
      readonly object: T;
      readonly version: string;
      /** The monotonic time of the answer. */
      readonly atMs: number;
    }
  /** The object with this UID was deleted; it existed at `version`. */
  | { readonly type: 'deleted'; readonly uid: string; readonly version: string }
  /** The store is known to be behind, but the current state is unknown. */
  | Unsettled<T>;

interface Unsettled<T extends KubernetesObject> {
  readonly type: 'unsettled';
  /** Returns true if the store, which has `stored` for the key, has caught up. */
  readonly isSettled: (stored: T | undefined) => boolean;
  /** The monotonic time at which this entry expires. */
  readonly untilMs: number;
  /** True if one live read ends the entry; see {@link WriteOverlay.settle}. */
  readonly once: boolean;
}

/** The state of one key for a reader. */
export type Look<T extends KubernetesObject> =
  | { readonly type: 'object'; readonly object: T }
  | { readonly type: 'quarantined'; readonly object: QuarantinedObject }
  | { readonly type: 'absent' | 'unsettled' };

/** Access to the store and the watch under a {@link WriteOverlay}. */
export interface Overlaid<T extends KubernetesObject> {
  stored(key: string): T | undefined;
  quarantined(key: string): QuarantinedObject | undefined;
  /** Returns the version that the watch of a namespace has reached. */
  progress(namespace: string | undefined): string;
  readonly clock: Clock;
  /** Called when the watch has passed a write, with the milliseconds since the server answered the write. */
  readonly onPassed?: ((lagMs: number) => void) | undefined;
}

/** Time for which reads do not rely on the store after a conflict, in milliseconds. */
const doubtMs = 5_000;
/**
 * Time that readers wait for a version that is not an integer and that the watch may never show, in
 * milliseconds.
 */
const incomparableMs = 60_000;

/**
 * Read-your-writes: written objects overlay the store until the watch has passed them, so that a reader never
 * sees a state older than its own write. Entries expire as the watch advances; the overlay needs no timer and
 * does not grow without bound.
 *
 * Versions compare as integers within one resource type (KEP-5504). If a version is not an integer, the key
 * is `unsettled` until the watch shows exactly that version. Until then, a reader waits or reads from the
 * server.
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

  /** Records the `object` that a write returned. */
  written(object: T): void {
    const key = keyString(keyOf(object));
    const { uid, resourceVersion: version = '', namespace } = object.metadata;
    // The answers of two writes can arrive in either order.
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

  /** Records a change of `key` to `version` by a call whose answer does not contain the object. */
  touched(key: string, version: string): void {
    this.#doubt(
      key,
      incomparableMs,
      (stored) =>
        this.#isPassed(namespaceOf(key), version) || stored?.metadata.resourceVersion === version,
    );
  }

  /** Records the deletion of `key`; `knownUid` is its UID if the caller knows it. */
  deleted(key: string, knownUid?: string): void {
    const known = this.#entries.get(key);
    const object = known?.type === 'written' ? known.object : this.#overlaid.stored(key);
    const { uid, resourceVersion: version = '' } = object?.metadata ?? {};
    const isListed = (): boolean => this.#overlaid.progress(namespaceOf(key)) !== '';
    if (object === undefined && !isListed()) {
      // The list that is being read may still contain the object, or already another one that has replaced it.
      const isGone = (stored: T | undefined): boolean =>
        stored === undefined || (knownUid !== undefined && stored.metadata.uid !== knownUid);
      this.#doubt(key, incomparableMs, (stored) => isListed() && isGone(stored), true);
      return;
    }
    if (uid === undefined || (knownUid !== undefined && knownUid !== uid)) return;
    this.#entries.set(key, { type: 'deleted', uid, version });
  }

  /**
   * Records that `deleteCollection` included the object `key` with this UID, which is now deleted or
   * terminating.
   */
  deletedWithOthers(key: string, uid: string | undefined): void {
    const known = this.#entries.get(key);
    this.#doubt(key, doubtMs, (stored) => {
      // The store may lack the object only because the watch has not yet shown its creation.
      const isBehind =
        known?.type === 'written' && !this.#isPassed(namespaceOf(key), known.version);
      if (isBehind) return false;
      return stored?.metadata.uid !== uid || stored?.metadata.deletionTimestamp !== undefined;
    });
  }

  /** Records that the server rejected a write to `key`: the object has changed, is gone, or exists. */
  conflicted(key: string): void {
    const known = this.#entries.get(key);
    const written = known?.type === 'written' ? [known.object] : [];
    const seen = [...written, this.#overlaid.stored(key)].map(versionOf);
    const isSeen = (stored: T | undefined): boolean => seen.includes(versionOf(stored));
    this.#doubt(key, doubtMs, (stored) => !isSeen(stored));
  }

  /** Lets reads use the store again after a conflict. Call it once a live read has returned the current state. */
  settle(key: string): void {
    const entry = this.#entries.get(key);
    if (entry?.type === 'unsettled' && entry.once) this.#entries.delete(key);
  }

  /** Calls {@link WriteOverlay.settle} for all keys in `namespace`, or for all keys if undefined. */
  settleIn(namespace: string | undefined): void {
    for (const key of this.#keysIn(namespace)) this.settle(key);
  }

  /** Returns what a reader sees of `key`. */
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
   * Overlays `found`, a selection of the store from `namespace` or from all, with recent writes.
   * @param isSelected - returns true if a written object belongs to the selection
   * @returns undefined if the reader must wait
   */
  over(
    found: readonly T[],
    namespace: string | undefined,
    isSelected: (object: T) => boolean,
  ): readonly T[] | undefined {
    if (this.#entries.size === 0) return found;
    const written: T[] = [];
    for (const key of this.#keysIn(namespace)) {
      const entry = this.#current(key);
      if (entry?.type === 'unsettled') return undefined;
      if (entry?.type === 'written' && isSelected(entry.object)) written.push(entry.object);
    }
    const kept = found.filter((object) => {
      const entry = this.#entries.get(keyString(keyOf(object)));
      return entry === undefined || through(entry, object) === object;
    });
    return [...kept, ...written];
  }

  /** Returns the objects written to `namespace`, or to all, that the watch has not yet shown. */
  unseen(namespace: string | undefined): T[] {
    return this.#keysIn(namespace).flatMap((key) => {
      const entry = this.#current(key);
      return entry?.type === 'written' ? [entry.object] : [];
    });
  }

  /** Drops all entries in `namespace`, or all entries if undefined. */
  clear(namespace?: string): void {
    for (const key of this.#keysIn(namespace)) this.#entries.delete(key);
  }

  /** Drops the entries that the watch has passed. */
  advance(): void {
    if (this.#entries.size === 0) return;
    for (const key of this.#keysIn(undefined)) {
      // The entries are almost in the order of the watch, so the search ends at the first written one that the watch
      // has not passed. Later calls drop the entries that this call misses.
      if (this.#current(key)?.type === 'written') return;
    }
  }

  /** Returns the keys of the entries in `namespace`, or all keys if undefined. */
  #keysIn(namespace: string | undefined): readonly string[] {
    const keys = [...this.#entries.keys()];
    return namespace === undefined ? keys : keys.filter((key) => namespaceOf(key) === namespace);
  }

  #doubt(
    key: string,
    forMs: number,
    isSettled: (stored: T | undefined) => boolean,
    once = forMs === doubtMs,
  ): void {
    if (isSettled(this.#overlaid.stored(key))) return;
    const untilMs = this.#overlaid.clock.monotonicMs() + forMs;
    this.#entries.set(key, { type: 'unsettled', isSettled, untilMs, once });
  }

  /** Returns the entry of `key`, unless the watch has passed it. */
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
        // The watch is past a version at which the object existed, and the store lacks it. So the object is
        // gone: a UID is never reused.
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

/** Returns true if `entry` describes a later state than the quarantined one. */
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

/** Identifies a state of a key; undefined if there is no object. */
function versionOf(object: KubernetesObject | undefined): string | undefined {
  return object && `${object.metadata.uid ?? ''} ${object.metadata.resourceVersion ?? ''}`;
}

function namespaceOf(key: string): string | undefined {
  const slash = key.indexOf('/');
  return slash < 0 ? undefined : key.slice(0, slash);
}
