import { VirtualClock } from '../../../lib/system/virtual-clock.js';

/**
 * A virtual clock that stands still while there is work that takes time of the machine, such as loading a
 * module: other clocks would run on.
 */
export class PatientClock extends VirtualClock {
  readonly #work = new Set<Promise<unknown>>();

  /** Has time wait for `work`. @returns `work` */
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
