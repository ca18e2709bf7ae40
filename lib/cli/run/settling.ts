import type { EmbeddedCluster } from '../../apiserver/index.js';
import type { CommittedChange } from '../../apiserver/internal.js';
import type { Manager } from '../../manager/index.js';
import type { ControllerEvent, ReconciledEvent } from '../../controller/index.js';
import { sleep, OperatorError } from '../../system/index.js';
import type { Clock } from '../../system/index.js';
import { briefError } from '../../feed/index.js';

export interface SettlingParts {
  readonly cluster: EmbeddedCluster;
  readonly clock: Clock;
}

const lookEveryMs = 50;
/** Required time without any change. */
const quietMs = 500;
/** Requeues up to this delay count as unfinished work; longer ones are periodic checks. */
const soonMs = 10_000;
/** Kinds whose writes do not count as work of an operator. */
const quietKinds: ReadonlySet<string> = new Set(['Event', 'Lease', 'Node']);

/** Detects when an operator and its cluster have no work left. */
export class Settling {
  readonly #parts: SettlingParts;
  readonly #last = new Map<string, ReconciledEvent & { readonly atMs: number }>();
  #changedMs: number;

  constructor(parts: SettlingParts) {
    this.#parts = parts;
    this.#changedMs = parts.clock.monotonicMs();
  }

  /** Records a change in the cluster; call it for every change. */
  changed({ object: { kind } }: CommittedChange): void {
    if (!quietKinds.has(kind)) this.#changedMs = this.#parts.clock.monotonicMs();
  }

  /** Records an event of the operator's controllers; call it for every event. */
  readonly onEvent = (event: ControllerEvent): void => {
    if (event.type !== 'reconciled') return;
    const { controller, key } = event;
    this.#last.set(`${controller} ${key}`, {
      ...event,
      atMs: this.#parts.clock.monotonicMs(),
    });
  };

  /**
   * Resolves when everything is reconciled and a further reconcile would change nothing.
   * @param timeoutMs - the longest wait, in milliseconds
   * @throws OperatorError `Timeout`: not settled in time; the message lists the remaining work
   * @throws the signal's reason, as soon as it is aborted
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
        throw new OperatorError('Timeout', `${message}: ${left || 'it keeps writing'}`);
      }
      await sleep(clock, lookEveryMs, signal);
    }
  }

  /** Whether the cluster's own controllers are idle. */
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

  /** Returns the remaining work; `''`: a change has just happened; undefined: idle. */
  #left(manager: Manager): string | undefined {
    const failed = [...this.#last.values()].find(({ error }) => error !== undefined);
    if (failed !== undefined) {
      const { controller, key, error } = failed;
      return `${controller} fails at ${key}: ${briefError(error)}`;
    }
    const busy = manager
      .status()
      .controllers.find(({ depth, active }) => depth + active.length > 0);
    if (busy !== undefined) return `${busy.name} is still reconciling`;
    const again = [...this.#last.values()].find((event) => this.#isUnfinished(event));
    if (again !== undefined) return `${again.controller} will reconcile ${again.key} again`;
    const { clock } = this.#parts;
    return clock.monotonicMs() - this.#changedMs < quietMs ? '' : undefined;
  }

  /** Whether a reconcile requested another one soon and may have changed something itself. */
  #isUnfinished({ againInMs, durationMs, atMs }: ReconciledEvent & { readonly atMs: number }) {
    if (againInMs === undefined || againInMs > soonMs) return false;
    return atMs - durationMs <= this.#changedMs;
  }
}
