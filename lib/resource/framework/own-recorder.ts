import type { EventRecorder } from '../../events/event-recorder.js';
import type { ObjectEvent, Recorder } from '../../events/recorder.js';

/**
 * The built-in recorder of a framework without a `recorder` option. It may be stopped between two runs of the
 * framework; it then holds no timer, and the next event starts it again.
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

  /** Resolves when all recorded events are written or discarded. */
  async flush(): Promise<void> {
    await this.#current?.flush();
  }

  /** Discards unwritten events. The next event starts a new recorder. */
  async stop(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.stop();
  }
}
