/**
 * Yields the items of `batches` one by one. Further items of a batch need no turn of an async generator.
 *
 * Behaves as an async generator: overlapping calls of `next` are answered in order, and an error of a batch
 * or of an item in it ends `batches`.
 */
export function flattened<T>(batches: AsyncGenerator<Iterable<T>>): AsyncGenerator<T> {
  return new Flattened(batches);
}

/**
 * Returns the remaining items of the current batch of `items`, without a turn of the event loop. The caller
 * handles their errors and ends `items`. Empty if `items` was not made by {@link flattened}.
 */
export function atOnce<T>(items: AsyncIterable<T>): Iterable<T> {
  return items instanceof Flattened ? (items as Flattened<T>).restOfBatch() : [];
}

class Flattened<T> implements AsyncGenerator<T> {
  readonly #batches: AsyncGenerator<Iterable<T>>;
  #batch: Iterator<T> | undefined;
  /** The last call that is not answered yet. */
  #last: Promise<unknown> | undefined;

  constructor(batches: AsyncGenerator<Iterable<T>>) {
    this.#batches = batches;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  restOfBatch(): Iterable<T> {
    const batch = this.#last === undefined ? this.#batch : undefined;
    return batch === undefined ? [] : { [Symbol.iterator]: () => batch };
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#last === undefined && this.#batch !== undefined) {
      try {
        const item = this.#batch.next();
        if (item.done !== true) return Promise.resolve({ done: false, value: item.value });
        this.#batch = undefined;
      } catch (error) {
        return this.#inTurn(() => this.#fail(error));
      }
    }
    return this.#inTurn(() => this.#advance());
  }

  return(): Promise<IteratorResult<T, undefined>> {
    return this.#inTurn(() => this.#end());
  }

  throw(error: unknown): Promise<IteratorResult<T, undefined>> {
    return this.#inTurn(() => this.#fail(error));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  #inTurn<R>(run: () => Promise<R>): Promise<R> {
    const answer = this.#last === undefined ? run() : this.#last.then(run, run);
    const over = (): void => {
      if (this.#last === answer) this.#last = undefined;
    };
    this.#last = answer;
    answer.then(over, over);
    return answer;
  }

  async #advance(): Promise<IteratorResult<T, undefined>> {
    for (;;) {
      const item = await this.#nextOfBatch();
      if (item?.done === false) return { done: false, value: item.value };
      const batch = await this.#batches.next();
      if (batch.done === true) return { done: true, value: undefined };
      this.#batch = batch.value[Symbol.iterator]();
    }
  }

  async #nextOfBatch(): Promise<IteratorResult<T> | undefined> {
    try {
      return this.#batch?.next();
    } catch (error) {
      return this.#fail(error);
    }
  }

  async #end(): Promise<IteratorResult<T, undefined>> {
    this.#batch = undefined;
    await this.#batches.return(undefined);
    return { done: true, value: undefined };
  }

  async #fail(error: unknown): Promise<never> {
    await this.#end();
    throw error;
  }
}
