import { LruMap } from '../../events/lru-map.js';

const remembered = 10_000;

/**
 * What was told of which object, so that it is told once and not in every pass. A restart forgets it,
 * and so do ten thousand other objects.
 */
export class OnceTold {
  readonly #told = new LruMap<string, Map<string, string>>(remembered);

  /** Notes that `text` is told of `topic`. @returns whether it is new */
  isNew(object: string, topic: string, text: string): boolean {
    const topics = this.#told.get(object) ?? new Map<string, string>();
    if (topics.get(topic) === text) return false;
    topics.set(topic, text);
    this.#told.set(object, topics);
    return true;
  }

  /** Forgets a topic, for what it told of is over. @returns whether something was told */
  isOver(object: string, topic: string): boolean {
    return this.#told.get(object)?.delete(topic) ?? false;
  }
}
