import type { ControllerEvent, ReconciledEvent } from '../../controller/controller-event.js';
import type { ControllerEventListener } from '../../controller/controller-event.js';
import type { Clock } from '../../system/clock.js';

/** A reconcile that has ended, and when: in milliseconds since 1970. */
export interface RecentReconcile {
  readonly event: ReconciledEvent;
  readonly atMs: number;
}

/** The options of a manager that {@link RecentReconciles} looks at. */
export interface ObservableOptions {
  readonly inspector: unknown;
  readonly onEvent: ControllerEventListener | undefined;
}

/** So many are remembered. Their causes hold objects, so they must be few. */
const kept = 50;

/** The last reconciles of all controllers. */
export class RecentReconciles {
  readonly #clock: Clock;
  readonly #recent: RecentReconcile[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `options`, so that each reconcile is noted; the same ones where there is no inspector. */
  noting<T extends ObservableOptions>(options: T): T {
    const { inspector, onEvent } = options;
    if (inspector === undefined) return options;
    const note = (event: ControllerEvent): void => {
      if (event.type === 'reconciled') this.#note(event);
      onEvent?.(event);
    };
    return { ...options, onEvent: note };
  }

  /** The latest first. */
  all(): RecentReconcile[] {
    return this.#recent.toReversed();
  }

  #note(event: ReconciledEvent): void {
    this.#recent.push({ event, atMs: this.#clock.now() });
    if (this.#recent.length > kept) this.#recent.shift();
  }
}
