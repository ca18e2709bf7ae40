import type { WatchOptions } from '../client/index.js';
import { isJsonObject } from '../object/index.js';
import type { KubernetesObject } from '../object/index.js';

type ClientParts = NonNullable<WatchOptions['knownParts']>;
type PartName = Parameters<ClientParts['read']>[1];

const names: readonly PartName[] = ['spec', 'status'];

/** The parts of an object that the cache keeps together with their JSON text. */
export type ObjectParts = Readonly<Partial<Record<PartName, unknown>>>;

export function partsOf({ spec, status }: KubernetesObject & ObjectParts): ObjectParts {
  return { spec, status };
}

interface Known {
  readonly text: string;
  readonly value: object;
}

/** The total length of the texts, in characters: those of about 2,000 Pods. */
const mostCharacters = 4 * 2 ** 20;

/**
 * Remembers the texts of the cached `spec` and `status` of objects that change. A change with the same text gets the
 * cached value, without parsing the text or comparing the values. A change of a Pod then costs half as much.
 *
 * Only cached values are returned: they are frozen, and complete. All kinds of a cache share the memory. When it is
 * full, the oldest texts are dropped.
 */
export class KnownParts implements ClientParts {
  readonly #parts = new Map<string, Known>();
  /** The texts of parsed values that are not cached yet. */
  readonly #texts = new WeakMap<object, string>();
  #characters = 0;

  /** The total length of the kept texts, in characters. */
  get characters(): number {
    return this.#characters;
  }

  read(uid: unknown, name: PartName, text: string): unknown {
    const known = typeof uid === 'string' ? this.#parts.get(name + uid) : undefined;
    if (known?.text === text) return known.value;
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) this.#texts.set(value, text);
    return value;
  }

  /** Remembers the texts of an object that the cache now holds. @param read - the parsed parts of the object */
  cached(object: KubernetesObject & ObjectParts, read: ObjectParts): void {
    const { uid } = object.metadata;
    if (uid === undefined) return;
    for (const name of names) {
      const [parsed, value] = [read[name], object[name]];
      if (!isJsonObject(parsed)) continue;
      const text = this.#texts.get(parsed);
      // Drop the text: it is a slice of a whole chunk of the watch, which would stay in memory too.
      this.#texts.delete(parsed);
      if (text !== undefined && isJsonObject(value)) this.#remember(name + uid, text, value);
    }
  }

  #remember(key: string, slice: string, value: object): void {
    // A copy: a slice would keep the whole chunk of the watch in memory.
    const text = Buffer.from(slice).toString();
    this.#characters += text.length - (this.#parts.get(key)?.text.length ?? 0);
    this.#parts.delete(key);
    this.#parts.set(key, { text, value });
    for (const [oldest, known] of this.#parts) {
      if (this.#characters <= mostCharacters) break;
      this.#characters -= known.text.length;
      this.#parts.delete(oldest);
    }
  }
}
