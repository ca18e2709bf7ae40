import type { ServedKind } from './served-kind.js';

/** Every kind that is served, in each of its versions. CRDs add and remove kinds as they come and go. */
export class KindRegistry {
  readonly #byPlural = new Map<string, ServedKind>();
  readonly #byKind = new Map<string, ServedKind>();
  readonly #listeners = new Set<() => void>();
  #generation = 0;
  #converting = false;

  /** Grows with each change: what is computed from the kinds is good for one value. */
  get generation(): number {
    return this.#generation;
  }

  /** Whether webhooks convert objects of some kind. */
  get converting(): boolean {
    return this.#converting;
  }

  find(group: string, version: string, plural: string): ServedKind | undefined {
    return this.#byPlural.get(`${group}/${version}/${plural}`);
  }

  findKind(group: string, version: string, kind: string): ServedKind | undefined {
    return this.#byKind.get(`${group}/${version}/${kind}`);
  }

  /** All kinds, in the order in which they came. */
  all(): Iterable<ServedKind> {
    return this.#byPlural.values();
  }

  /** One version of each kind: the one that its objects are stored in. */
  stored(): readonly ServedKind[] {
    return [...this.all()].filter((kind) => kind.isStorageVersion && kind.verbs.includes('list'));
  }

  /** The stored version of what is in `collection`. */
  storedIn(collection: string): ServedKind | undefined {
    for (const kind of this.all()) {
      if (kind.isStorageVersion && kind.collection === collection) return kind;
    }
    return undefined;
  }

  /** Serves `kinds`. */
  add(kinds: readonly ServedKind[]): void {
    this.replace([], kinds);
  }

  /** Serves `kinds`, and those `before` no more, as one change. */
  replace(before: readonly ServedKind[], kinds: readonly ServedKind[]): void {
    for (const { type } of before) {
      this.#byPlural.delete(`${type.group}/${type.version}/${type.plural}`);
      this.#byKind.delete(`${type.group}/${type.version}/${type.kind}`);
    }
    for (const kind of kinds) {
      const { group, version, plural } = kind.type;
      this.#byPlural.set(`${group}/${version}/${plural}`, kind);
      this.#byKind.set(`${group}/${version}/${kind.type.kind}`, kind);
    }
    this.#changed();
  }

  /** Calls `listener` when kinds come or go. @returns what ends it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #changed(): void {
    this.#generation++;
    this.#converting = [...this.all()].some(({ conversions }) => conversions !== undefined);
    for (const listener of [...this.#listeners]) listener();
  }
}
