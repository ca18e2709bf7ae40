import { untilAborted } from '../../system/index.js';

/**
 * A request to another server, until its response ends. It can end earlier: with the signal of its caller, by a time
 * limit, or when the server stops. `AbortSignal.any` is unsuitable: on Node.js 20 its signals stay in memory as long as
 * a long-lived source.
 */
export class OngoingRequest {
  readonly #controller = new AbortController();
  readonly #onEnd: () => void;
  #reason: Error | undefined;

  /** @param onEnd - called when the request ends; may be called repeatedly. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** Aborted when the request ends early. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The first reason of {@link OngoingRequest.abort}. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  /** Ends the request early. */
  abort(reason: Error): void {
    this.#reason ??= reason;
    this.#controller.abort(this.#reason);
    this.end();
  }

  /** Ends the request after its response. */
  end(): void {
    this.#onEnd();
  }

  /** Waits for a part of the response. @throws the reason, once the request ends early. */
  race<T>(work: Promise<T>): Promise<T> {
    return untilAborted(work, this.signal);
  }

  /**
   * Returns the chunks of the response's body. At their end, releases the request. If the reader stops earlier, ends
   * the request, even before the first chunk. A generator function cannot do that: its `finally` does not run before
   * the first `next`.
   */
  read(body: AsyncIterable<Uint8Array>): AsyncIterableIterator<Uint8Array> {
    const chunks = body[Symbol.asyncIterator]();
    let isOpen = true;
    const close = (): void => {
      isOpen = false;
      this.end();
      // Nothing waits for the body to close, because a body that ignores the signal may never close. A failure to close
      // it does not matter: the caller already has its result or error.
      chunks.return?.().catch(() => undefined);
    };
    const reader: AsyncIterableIterator<Uint8Array> = {
      [Symbol.asyncIterator]: () => reader,
      next: async () => {
        try {
          const next = await this.race(chunks.next());
          if (next.done === true) close();
          return next;
        } catch (error) {
          close();
          throw error;
        }
      },
      return: () => {
        if (isOpen) this.#controller.abort(new Error('aborted'));
        close();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
    return reader;
  }
}
