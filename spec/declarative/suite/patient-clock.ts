import { VirtualClock } from '../../../lib/system/virtual-clock.js';

/**
 * A virtual clock that stands still during work that takes real time, such as loading a module. An ordinary virtual
 * clock would advance before the work ends.
 */
export class PatientClock extends VirtualClock {
  readonly #work = new Set<Promise<unknown>>();

  /** Stops time until `work` settles. @returns `work` */
  hold<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    const over = (): void => void this.#work.delete(work);
    work.then(over, over);
    return work;
  }

  override async advance(ms: number): Promise<void> {
    await super.advance(0);
    while (this.#work.size > 0) {
      await Promise.allSettled(this.#work);
      await super.advance(0);
    }
    await super.advance(ms);
  }
}
