import type {
  ControllerEvent,
  ReconciledEvent,
  ControllerEventListener,
} from '../../controller/index.js';
import type { Clock } from '../../system/clock.js';

/** A finished reconcile and its time in milliseconds since 1970. */
export interface RecentReconcile {
  readonly event: ReconciledEvent;
  readonly atMs: number;
}

/** The options of a manager that {@link RecentReconciles} needs. */
export interface ObservableOptions {
  readonly inspector: unknown;
  readonly onEvent: ControllerEventListener | undefined;
}

/** Number of remembered reconciles; small, since their causes keep objects in memory. */
const kept = 50;

/** The last reconciles of all controllers. */
export class RecentReconciles {
  readonly #clock: Clock;
  readonly #recent: RecentReconcile[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns `options` with a listener that records each reconcile; unchanged without an inspector. */
  noting<T extends ObservableOptions>(options: T): T {
    const { inspector, onEvent } = options;
    if (inspector === undefined) return options;
    const note = (event: ControllerEvent): void => {
      if (event.type === 'reconciled') this.#note(event);
      onEvent?.(event);
    };
    return { ...options, onEvent: note };
  }

  /** Returns the recorded reconciles, the latest first. */
  all(): RecentReconcile[] {
    return this.#recent.toReversed();
  }

  #note(event: ReconciledEvent): void {
    this.#recent.push({ event, atMs: this.#clock.now() });
    if (this.#recent.length > kept) this.#recent.shift();
  }
}
