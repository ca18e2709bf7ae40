import type { KubernetesObject } from '../object/index.js';
import { OperatorError } from '../system/index.js';
import { builtInIndexers, indexValues, metadataPartOf, unknownIndex } from './indexer.js';
import type { Indexer, MetadataPart } from './indexer.js';
import type { CacheEvent } from './informer.js';

interface ObjectStoreOptions<T extends KubernetesObject> {
  /** Indexes by name, in addition to those by namespace and controller UID. */
  readonly indexers?: Readonly<Record<string, Indexer<T>>> | undefined;
  /** Called for each existing object for which a new index throws. That index omits the object. */
  readonly onIndexError?: ((key: string, object: T, error: unknown) => void) | undefined;
}

/** Stores objects of one kind by `namespace/name` and keeps indexes over them up to date. */
export class ObjectStore<T extends KubernetesObject> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, Index<T>>();
  readonly #onIndexError: (key: string, object: T, error: unknown) => void;

  constructor(options: ObjectStoreOptions<T> = {}) {
    const { indexers = {}, onIndexError = () => undefined } = options;
    this.#onIndexError = onIndexError;
    for (const [name, indexer] of Object.entries(builtInIndexers)) this.addIndexer(name, indexer);
    for (const [name, indexer] of Object.entries(indexers)) this.addIndexer(name, indexer);
  }

  get indexers(): Readonly<Record<string, Indexer<T>>> {
    const entries = [...this.#indexes].map(([name, { indexer }]) => [name, indexer] as const);
    return Object.fromEntries(entries);
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  /** Returns all entries; the store must not change during the iteration. */
  entries(): IterableIterator<[string, T]> {
    return this.#objects.entries();
  }

  /** Returns all objects; the store must not change during the iteration. */
  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  /**
   * Stores `object` under `key` and replaces the previous one.
   * @returns the resulting events
   * @throws OperatorError `InvalidObject`: an index throws for it; the store is unchanged.
   */
  put(key: string, object: T, isInInitialList = false): readonly CacheEvent<T>[] {
    const old = this.#objects.get(key);
    const moves: [index: Index<T>, values: readonly string[]][] = [];
    for (const index of this.#indexes.values()) {
      if (!index.isUnaffected(old, object)) moves.push([index, index.valuesOf(object)]);
    }
    this.#objects.set(key, object);
    for (const [index, values] of moves) index.move(key, old, values);
    if (old === undefined) return [{ type: 'added', object, isInInitialList }];
    const [now, before] = [object.metadata, old.metadata];
    if (now.uid !== before.uid) {
      return [
        { type: 'deleted', object: old, finalStateUnknown: true },
        { type: 'added', object, isInInitialList },
      ];
    }
    return now.resourceVersion === before.resourceVersion ? [] : [{ type: 'updated', object, old }];
  }

  /**
   * Removes an object.
   * @param last - the last state of the object; undefined if the watch did not show it
   * @returns the resulting events
   */
  take(key: string, last: T | undefined): readonly CacheEvent<T>[] {
    const old = this.#objects.get(key);
    if (old === undefined) return [];
    this.#objects.delete(key);
    for (const index of this.#indexes.values()) index.move(key, old, []);
    // A different UID means that an earlier deletion was missed.
    const isLast = last !== undefined && old.metadata.uid === last.metadata.uid;
    return [{ type: 'deleted', object: isLast ? last : old, finalStateUnknown: !isLast }];
  }

  /**
   * Removes all objects for which `isKept` returns false.
   * @returns the resulting events
   */
  removeMissing(isKept: (key: string, object: T) => boolean): readonly CacheEvent<T>[] {
    const gone = [...this.#objects].filter(([key, object]) => !isKept(key, object));
    return gone.flatMap(([key]) => this.take(key, undefined));
  }

  /**
   * Returns the objects under `value` of an index.
   * @throws OperatorError `InvalidOption`: the index does not exist.
   */
  byIndex(name: string, value: string): T[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw unknownIndex('byIndex', name, this.#indexes.keys());
    return index.keys(value).flatMap((key) => this.#objects.get(key) ?? []);
  }

  /**
   * Adds an index over existing and future objects.
   * @throws OperatorError `InvalidOption`: a different index has that name.
   */
  addIndexer(name: string, indexer: Indexer<T>): void {
    const existing = this.#indexes.get(name);
    if (existing?.indexer === indexer) return;
    if (existing !== undefined) {
      const remedy = 'give this one another name, or hand over the same function';
      throw new OperatorError('InvalidOption', `there is another index ${name}; ${remedy}`);
    }
    const index = new Index(name, indexer);
    this.#indexes.set(name, index);
    for (const [key, object] of this.#objects) {
      try {
        index.move(key, undefined, index.valuesOf(object));
      } catch (error) {
        this.#onIndexError(key, object, error);
      }
    }
  }
}

class Index<T extends KubernetesObject> {
  readonly indexer: Indexer<T>;
  readonly #name: string;
  readonly #part: MetadataPart | undefined;
  readonly #keys = new Map<string, Set<string>>();

  constructor(name: string, indexer: Indexer<T>) {
    this.#name = name;
    this.indexer = indexer;
    this.#part = metadataPartOf(indexer);
  }

  /** Returns true if both objects surely have the same values; versions share the parts that are equal. */
  isUnaffected(from: T | undefined, to: T): boolean {
    if (this.#part === undefined || from === undefined) return false;
    return from.metadata[this.#part] === to.metadata[this.#part];
  }

  keys(value: string): string[] {
    return [...(this.#keys.get(value) ?? [])];
  }

  move(key: string, from: T | undefined, after: readonly string[]): void {
    const before = from === undefined ? [] : this.#knownValuesOf(from);
    for (const value of before) if (!after.includes(value)) this.#remove(value, key);
    for (const value of after) if (!before.includes(value)) this.#add(value, key);
  }

  /** @throws OperatorError `InvalidObject`: the indexer throws or does not return an array. */
  valuesOf(object: T): readonly string[] {
    return indexValues(this.#name, this.indexer, object);
  }

  /**
   * Returns no values if the indexer throws: it may do so for an object stored before the index was added.
   */
  #knownValuesOf(object: T): readonly string[] {
    try {
      return this.valuesOf(object);
    } catch {
      return [];
    }
  }

  #add(value: string, key: string): void {
    const keys = this.#keys.get(value);
    if (keys === undefined) this.#keys.set(value, new Set([key]));
    else keys.add(key);
  }

  #remove(value: string, key: string): void {
    const keys = this.#keys.get(value);
    keys?.delete(key);
    // Remove empty sets: a set for each past owner would be a leak.
    if (keys?.size === 0) this.#keys.delete(value);
  }
}

/*
 * The sizes of values in V8, in bytes, by its layouts on 64 bit without pointer compression (Node's).
 * Shared strings count for each object, so the estimate is an upper bound, about a fifth too high.
 */
const word = 8;
const objectHeader = 3 * word;
const arrayHeader = 6 * word;
const stringHeader = 2 * word;

/** Estimates the heap size of `value`, in bytes. */
export function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return stringHeader + Math.ceil(value.length / word) * word;
  if (typeof value !== 'object' || value === null) {
    // Small integers and booleans are stored in the parent's slot.
    return typeof value === 'number' && !Number.isInteger(value) ? 2 * word : 0;
  }
  let bytes = Array.isArray(value) ? arrayHeader : objectHeader;
  for (const name in value) bytes += word + estimateBytes(value[name as keyof typeof value]);
  return bytes;
}

/** The approximate number of objects to sample. */
const sampleSize = 256;

/**
 * Estimates the heap size of `size` objects, in bytes, from every nth of them. The sample is small enough to
 * run at each metrics collection.
 */
export function estimateTotalBytes(objects: Iterable<object>, size: number): number {
  const step = Math.max(1, Math.floor(size / sampleSize));
  let [sampled, bytes, nth] = [0, 0, 0];
  for (const object of objects) {
    if (nth++ % step !== 0) continue;
    sampled++;
    bytes += estimateBytes(object);
  }
  return sampled === 0 ? 0 : Math.round((bytes / sampled) * size);
}
