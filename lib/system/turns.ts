/** Runs work for one key in sequence, in the order of the calls; work for other keys runs concurrently. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /** Runs `work` after earlier work for `id`. @returns its result. @throws its error */
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
