import type { KindRegistry } from '../kinds/kind-registry.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { WatchStream } from './watch-stream.js';

/** The open watches. When a kind is no longer served, its watches send the last changes and end. */
export class OpenWatches {
  readonly #streams = new Map<WatchStream, ServedKind>();

  constructor(kinds: KindRegistry) {
    kinds.subscribe(() => {
      for (const [stream, { type }] of this.#streams) {
        if (kinds.find(type.group, type.version, type.plural) === undefined) stream.finish();
      }
    });
  }

  /** The number of open watches. */
  get size(): number {
    return this.#streams.size;
  }

  /** Tracks `stream` until it ends. */
  add(stream: WatchStream, kind: ServedKind): void {
    this.#streams.set(stream, kind);
    stream.onceEnded(() => this.#streams.delete(stream));
  }

  /** Ends all watches at once, without their remaining changes. */
  end(): void {
    for (const stream of [...this.#streams.keys()]) stream.end();
  }
}
