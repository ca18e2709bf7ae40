import type { CommittedChange, EmbeddedCluster } from '../../embedded/index.js';
import type { Manager } from '../../manager/index.js';
import type { ControllerEvent, ReconciledEvent } from '../../controller/controller-event.js';
import { sleep } from '../../system/clock.js';
import type { Clock } from '../../system/clock.js';
import { OperatorError } from '../../system/operator-error.js';
import { briefError } from '../../feed/brief-error.js';

/** What {@link Settling} watches. */
export interface SettlingParts {
  readonly cluster: EmbeddedCluster;
  readonly clock: Clock;
}

const lookEveryMs = 50;
/** So long nothing has to happen. */
const quietMs = 500;
/** What is to be done again sooner has not ended; what comes later is a look now and then. */
const soonMs = 10_000;
/** Whose writes are no work of an operator. */
const quietKinds: ReadonlySet<string> = new Set(['Event', 'Lease', 'Node']);

/** Finds out when an operator and the cluster around it have nothing left to do. */
export class Settling {
  readonly #parts: SettlingParts;
  readonly #last = new Map<string, ReconciledEvent & { readonly atMs: number }>();
  #changedMs: number;

  constructor(parts: SettlingParts) {
    this.#parts = parts;
    this.#changedMs = parts.clock.monotonicMs();
  }

  /** To be told of every change in the cluster. */
  changed({ object: { kind } }: CommittedChange): void {
    if (!quietKinds.has(kind)) this.#changedMs = this.#parts.clock.monotonicMs();
  }

  /** To be told of every event of the operator's controllers. */
  readonly onEvent = (event: ControllerEvent): void => {
    if (event.type !== 'reconciled') return;
    const { controller, key } = event;
    this.#last.set(`${controller} ${key}`, {
      ...event,
      atMs: this.#parts.clock.monotonicMs(),
    });
  };

  /**
   * Resolves when all is reconciled, and a further reconcile would change nothing.
   * @param timeoutMs - the longest wait, in milliseconds
   * @throws OperatorError `Timeout`: it takes longer; the message says what is left.
   * @throws the signal's reason, as soon as it is aborted.
   */
  async settled(manager: Manager, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const endMs = clock.monotonicMs() + timeoutMs;
    for (;;) {
      const isCalm = await this.#isCalm(signal);
      const left = isCalm ? this.#left(manager) : 'its workloads are not ready';
      if (left === undefined) return;
      if (clock.monotonicMs() >= endMs) {
        const message = `the operator has not settled in ${timeoutMs / 1000} s`;
        throw new OperatorError('Timeout', `${message}: ${left || 'it goes on writing'}`);
      }
      await sleep(clock, lookEveryMs, signal);
    }
  }

  /** Whether the cluster's own controllers have nothing to do now. */
  async #isCalm(signal: AbortSignal): Promise<boolean> {
    const { clock, cluster } = this.#parts;
    const soon = new AbortController();
    const late = sleep(clock, lookEveryMs, AbortSignal.any([signal, soon.signal]));
    try {
      return await Promise.race([cluster.settled().then(() => true), late.then(() => false)]);
    } finally {
      soon.abort();
      await late.catch(() => undefined);
    }
  }

  /** What is left to do; `''`: something has just changed; undefined: nothing. */
  #left(manager: Manager): string | undefined {
    const failed = [...this.#last.values()].find(({ error }) => error !== undefined);
    if (failed !== undefined) {
      const { controller, key, error } = failed;
      return `${controller} fails at ${key}: ${briefError(error)}`;
    }
    const busy = manager
      .status()
      .controllers.find(({ depth, active }) => depth + active.length > 0);
    if (busy !== undefined) return `${busy.name} reconciles`;
    const again = [...this.#last.values()].find((event) => this.#isUnfinished(event));
    if (again !== undefined) return `${again.controller} is to look at ${again.key} again`;
    const { clock } = this.#parts;
    return clock.monotonicMs() - this.#changedMs < quietMs ? '' : undefined;
  }

  /** A reconcile that wants another one soon, and may have changed something itself. */
  #isUnfinished({ againInMs, durationMs, atMs }: ReconciledEvent & { readonly atMs: number }) {
    if (againInMs === undefined || againInMs > soonMs) return false;
    return atMs - durationMs <= this.#changedMs;
  }
}
