import { systemClock, refuseUnknownOptions } from '../../system/index.js';
import type { Clock } from '../../system/index.js';
import { ErrorLimit } from '../runtime/reported-errors.js';
import type { ReportedError } from '../runtime/reported-errors.js';

/** Maximum number of errors that wait for a reader; further ones are dropped and counted. */
export const statusChannelBufferSize = 64;

/** Options of {@link ErrorStream}. */
export interface ErrorStreamOptions {
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
}

/**
 * A stream of the errors of operators, at most three per operator in two seconds. Errors beyond this limit
 * are still in `controller.reportErrors()`.
 *
 * Each error goes to one reader, as in a channel. Errors before the first reader wait for it. Without a
 * reader 64 errors wait; further ones are dropped.
 *
 * @example
 * ```ts
 * for await (const error of group.errors) console.error(error.operator, error.message);
 * ```
 */
export class ErrorStream implements AsyncIterable<ReportedError> {
  readonly #clock: Clock;
  readonly #limits = new Map<string, ErrorLimit>();
  readonly #waiting: ReportedError[] = [];
  readonly #readers = new Set<Reader>();
  #suppressed = 0;
  #isEnded = false;

  /** @throws OperatorError `InvalidOption`: an option is unknown. */
  constructor(options: ErrorStreamOptions = {}) {
    const { clock = systemClock } = options;
    refuseUnknownOptions<ErrorStreamOptions>('ErrorStream', options, { clock });
    this.#clock = clock;
  }

  /** Number of dropped errors: beyond the limit of an operator, or beyond the buffer. */
  get suppressed(): number {
    return this.#suppressed;
  }

  /** Passes an error to a reader, or buffers it. Does nothing after the end. */
  push(error: ReportedError): void {
    if (this.#isEnded) return;
    if (!this.#limitOf(error.operator).pass()) {
      this.#suppressed++;
      return;
    }
    const [reader] = this.#readers;
    if (reader !== undefined) {
      this.#readers.delete(reader);
      reader({ done: false, value: error });
    } else if (this.#waiting.length < statusChannelBufferSize) {
      this.#waiting.push(error);
    } else {
      this.#suppressed++;
    }
  }

  /** Ends the stream: readers receive the buffered errors, then their loops end. */
  end(): void {
    this.#isEnded = true;
    this.#limits.clear();
    for (const reader of this.#readers) reader(over);
    this.#readers.clear();
  }

  /** Discards the state of a removed operator. */
  forget(operator: string): void {
    this.#limits.delete(operator);
  }

  [Symbol.asyncIterator](): AsyncIterator<ReportedError, undefined> {
    let reading: Reader | undefined;
    let isOver = false;
    return {
      next: () => {
        const first = isOver ? undefined : this.#waiting.shift();
        if (first !== undefined) return Promise.resolve({ done: false, value: first });
        if (isOver || this.#isEnded) return Promise.resolve(over);
        return new Promise((resolve) => this.#readers.add((reading = resolve)));
      },
      return: () => {
        isOver = true;
        // Otherwise the next error would go to a reader that has stopped reading.
        if (reading !== undefined && this.#readers.delete(reading)) reading(over);
        return Promise.resolve(over);
      },
    };
  }

  #limitOf(operator: string): ErrorLimit {
    const limit = this.#limits.get(operator) ?? new ErrorLimit(this.#clock);
    this.#limits.set(operator, limit);
    return limit;
  }
}

type Reader = (result: IteratorResult<ReportedError, undefined>) => void;

const over: IteratorResult<ReportedError, undefined> = { done: true, value: undefined };
