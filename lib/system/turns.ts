/** Has work on one thing follow one another, in the order of the calls; on others it goes on meanwhile. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /** Resolves with what `work` does, once it is its turn. @throws what it throws */
  run<R>(id: string, work: () => Promise<R>): Promise<R> {
    const before = this.#last.get(id);
    const turn = before === undefined ? work() : before.then(work);
    const end: Promise<void> = turn.then(
      () => this.#ended(id, end),
      () => this.#ended(id, end),
    );
    this.#last.set(id, end);
    return turn;
  }

  #ended(id: string, end: Promise<void>): void {
    if (this.#last.get(id) === end) this.#last.delete(id);
  }
}
