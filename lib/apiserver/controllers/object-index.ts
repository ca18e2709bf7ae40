import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { LabelSelector } from '../../object/label-selector.js';
import type { ResourceType } from '../../object/resource-type.js';
import type { ControllerHost } from './controller-host.js';

/**
 * Finds objects of one kind by words that are computed from each object. Changes of the log update the index.
 */
export class ObjectIndex<T extends KubernetesObject> {
  readonly #byWord = new Map<string, Map<string, T>>();

  /** @param wordsOf - returns the words of an object; the index adds the namespace to each */
  constructor(
    host: ControllerHost,
    type: ResourceType<T>,
    wordsOf: (object: T) => readonly string[],
  ) {
    host.watch(type, ({ type: change, object, previous }) => {
      const { uid = '' } = object.metadata;
      if (previous !== undefined) {
        for (const word of wordsOf(previous)) this.#remove(keyOf(previous, word), uid);
      }
      if (change === 'DELETED') return;
      for (const word of wordsOf(object)) this.#add(keyOf(object, word), uid, object);
    });
  }

  /** Returns the objects of a namespace that have one of `words`, each once. */
  find(namespace: string | undefined, words: readonly string[]): T[] {
    const found = new Map<string, T>();
    for (const word of words) {
      const objects = this.#byWord.get(`${namespace ?? ''}/${word}`) ?? [];
      for (const [uid, object] of objects) found.set(uid, object);
    }
    return [...found.values()];
  }

  #add(key: string, uid: string, object: T): void {
    const objects = this.#byWord.get(key) ?? new Map<string, T>();
    this.#byWord.set(key, objects);
    objects.set(uid, object);
  }

  #remove(key: string, uid: string): void {
    const objects = this.#byWord.get(key);
    objects?.delete(uid);
    if (objects?.size === 0) this.#byWord.delete(key);
  }
}

/** Returns the word of a selector: one label that all objects that it selects must have. */
export function selectorWords(selector: LabelSelector | undefined): readonly string[] {
  if (selector === undefined) return [];
  const [first] = Object.entries(selector.matchLabels ?? {});
  return [first === undefined ? anyLabels : `${first[0]}=${first[1]}`];
}

/** Returns the words of the selectors that may match `labels`. */
export function labelWords(labels: Readonly<Record<string, string>> = {}): readonly string[] {
  return [anyLabels, ...Object.entries(labels).map(([key, value]) => `${key}=${value}`)];
}

// The word of selectors without `matchLabels`. It differs from all label words.
const anyLabels = '*';

function keyOf({ metadata }: KubernetesObject, word: string): string {
  return `${metadata.namespace ?? ''}/${word}`;
}
