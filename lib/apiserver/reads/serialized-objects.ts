import type { UnstructuredObject } from '../../object/kubernetes-object.js';

/**
 * The JSON of the objects that were sent last, so that many watchers of one change cost one
 * serialisation. Bounded: an object that all have seen is soon forgotten.
 */
export class SerializedObjects {
  readonly #capacity: number;
  readonly #texts = new Map<UnstructuredObject, string>();

  /** @param capacity - how many objects are remembered. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The JSON of `object`, which must be frozen. */
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
