import type { Readable } from 'node:stream';

/** Callbacks of {@link readingOf}. */
export interface ReadingEnd {
  /** Returns the error to throw in place of `error`. */
  readonly explain: (error: unknown) => unknown;
  /** Called once, when the body ends, fails, or is left. */
  readonly end: () => Promise<void>;
}

/**
 * Iterates over the chunks of a response's body, once. Node's own iterator takes several turns of the microtask
 * queue for each chunk, which costs a watch as much as to read its events.
 */
export function readingOf(body: Readable, ending: ReadingEnd): AsyncIterableIterator<Uint8Array> {
  return new BodyReader(body, ending);
}

interface Waiting {
  readonly resolve: (result: IteratorResult<Uint8Array, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

class BodyReader implements AsyncIterableIterator<Uint8Array> {
  readonly #body: Readable;
  readonly #ending: ReadingEnd;
  #chunks: Uint8Array[] = [];
  #waiting: Waiting | undefined;
  /** Set when there are no more chunks than those in `#chunks`. */
  #over: { readonly error?: unknown } | undefined;
  #ended: Promise<void> | undefined;
  #begun = false;

  constructor(body: Readable, ending: ReadingEnd) {
    this.#body = body;
    this.#ending = ending;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (!this.#begun) this.#begin();
    const value = this.#chunks.shift();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#over !== undefined) return this.#end();
    if (this.#body.isPaused()) this.#body.resume();
    return new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    // With its listeners: an error of the destroyed body must find one.
    if (!this.#begun) this.#begin();
    this.#chunks = [];
    this.#over ??= {};
    this.#body.destroy();
    return this.#end();
  }

  #begin(): void {
    this.#begun = true;
    const over = (error?: unknown): void => {
      this.#over ??= error === undefined ? {} : { error };
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if (waiting !== undefined) this.#end().then(waiting.resolve, waiting.reject);
    };
    this.#body.on('end', () => over());
    this.#body.on('error', over);
    this.#body.on('close', () => over(new Error('the connection was closed')));
    this.#body.on('data', (chunk: Uint8Array) => {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if (waiting !== undefined) waiting.resolve({ done: false, value: chunk });
      else {
        // The reader is slower than the server, which must not fill the memory.
        this.#chunks.push(chunk);
        this.#body.pause();
      }
    });
  }

  async #end(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#ended ??= this.#ending.end();
    await this.#ended;
    const error = this.#over?.error;
    this.#over = {};
    if (error !== undefined) throw this.#ending.explain(error);
    return { done: true, value: undefined };
  }
}
