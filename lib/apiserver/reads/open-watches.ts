import type { KindRegistry } from '../kinds/kind-registry.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { WatchStream } from './watch-stream.js';

/** The watches that are open. Those of a kind that is served no more end, once they showed its last changes. */
export class OpenWatches {
  readonly #streams = new Map<WatchStream, ServedKind>();

  constructor(kinds: KindRegistry) {
    kinds.subscribe(() => {
      for (const [stream, { type }] of this.#streams) {
        if (kinds.find(type.group, type.version, type.plural) === undefined) stream.finish();
      }
    });
  }

  /** How many there are. */
  get size(): number {
    return this.#streams.size;
  }

  /** Knows `stream` until it ends. */
  add(stream: WatchStream, kind: ServedKind): void {
    this.#streams.set(stream, kind);
    stream.onceEnded(() => this.#streams.delete(stream));
  }

  /** Ends all of them, whatever they have not shown yet. */
  end(): void {
    for (const stream of [...this.#streams.keys()]) stream.end();
  }
}
