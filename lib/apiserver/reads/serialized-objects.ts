import type { UnstructuredObject } from '../../object/kubernetes-object.js';

/**
 * A cache of the JSON of recently sent objects, so that one change with many watchers is serialised
 * once. Its size is bounded: the oldest object is evicted first.
 */
export class SerializedObjects {
  readonly #capacity: number;
  readonly #texts = new Map<UnstructuredObject, string>();

  /**
   * Creates an empty cache.
   * @param capacity - maximum number of objects.
   */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Returns the JSON of `object`, which must be frozen. */
  json(object: UnstructuredObject): string {
    const known = this.#texts.get(object);
    if (known !== undefined) return known;
    const text = JSON.stringify(object);
    if (this.#texts.size >= this.#capacity) {
      for (const [oldest] of this.#texts) {
        this.#texts.delete(oldest);
        break;
      }
    }
    this.#texts.set(object, text);
    return text;
  }
}
