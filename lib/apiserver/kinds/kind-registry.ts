import type { ServedKind } from './served-kind.js';

/** All served kinds, in each of their versions. CRDs add and remove kinds. */
export class KindRegistry {
  readonly #byPlural = new Map<string, ServedKind>();
  readonly #byKind = new Map<string, ServedKind>();
  readonly #listeners = new Set<() => void>();
  #generation = 0;
  #converting = false;

  /** Increases with each change. A value computed from the kinds is valid for one generation. */
  get generation(): number {
    return this.#generation;
  }

  /** If true, a webhook converts the objects of a kind. */
  get converting(): boolean {
    return this.#converting;
  }

  find(group: string, version: string, plural: string): ServedKind | undefined {
    return this.#byPlural.get(`${group}/${version}/${plural}`);
  }

  findKind(group: string, version: string, kind: string): ServedKind | undefined {
    return this.#byKind.get(`${group}/${version}/${kind}`);
  }

  /** Returns all kinds in the order of their addition. */
  all(): Iterable<ServedKind> {
    return this.#byPlural.values();
  }

  /** Returns the storage version of each kind. */
  stored(): readonly ServedKind[] {
    return [...this.all()].filter((kind) => kind.isStorageVersion && kind.verbs.includes('list'));
  }

  /** Returns the storage version of the kind in `collection`. */
  storedIn(collection: string): ServedKind | undefined {
    for (const kind of this.all()) {
      if (kind.isStorageVersion && kind.collection === collection) return kind;
    }
    return undefined;
  }

  /** Starts to serve `kinds`. */
  add(kinds: readonly ServedKind[]): void {
    this.replace([], kinds);
  }

  /** Replaces the kinds `before` by `kinds` in one change. */
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

  /**
   * Calls `listener` after each change of the kinds.
   * @returns a function that unsubscribes
   */
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
