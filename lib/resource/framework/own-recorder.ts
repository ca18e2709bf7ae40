import type { EventRecorder } from '../../events/event-recorder.js';
import type { ObjectEvent, Recorder } from '../../events/recorder.js';

/**
 * The recorder of a framework that was given none. It may be stopped between two times that the
 * framework works: then it leaves no timer, and begins anew with the next event.
 */
export class OwnRecorder implements Recorder {
  readonly #make: () => EventRecorder;
  #current: EventRecorder | undefined;

  constructor(make: () => EventRecorder) {
    this.#make = make;
  }

  record(event: ObjectEvent): void {
    this.#current ??= this.#make();
    this.#current.record(event);
  }

  /** Resolves when all events that were recorded are written, or given up. */
  async flush(): Promise<void> {
    await this.#current?.flush();
  }

  /** Drops what is not written; the next event begins again. */
  async stop(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.stop();
  }
}
