import { Manager } from '../../../lib/manager/index.js';
import type { ManagerOptions, OperatorDefinition } from '../../../lib/manager/index.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import type { BuilderTarget } from '../../builder/suite/target.js';

/** What an operator that is started here is handed. */
export interface OperatorTerms {
  /** Aborted when it shall end. */
  readonly signal: AbortSignal;
  /** To be called when it works. */
  readonly onReady: () => void;
}

/** The operators that a stage has started. */
export class RunningOperators {
  readonly #target: BuilderTarget;
  readonly #stops: (() => Promise<void>)[] = [];

  constructor(target: BuilderTarget) {
    this.#target = target;
  }

  /** Starts an operator; resolves when it works. @throws what it ended with before that */
  async start(run: (terms: OperatorTerms) => Promise<unknown>): Promise<void> {
    const stop = new AbortController();
    await new Promise<void>((resolve, reject) => {
      const running = run({ signal: stop.signal, onReady: resolve });
      running.catch(reject);
      this.#stops.push(async () => {
        stop.abort();
        await running;
      });
    });
  }

  /** Starts an operator in a manager of its own; resolves when it works. */
  operate(operator: OperatorDefinition, options: ManagerOptions): Promise<void> {
    const { cacheOptions } = operator;
    return this.start(async ({ signal, onReady }) => {
      const manager = new Manager({ cacheOptions, rbacPreflight: 'off', ...options });
      await operator.setup(manager);
      const started = manager.whenStarted(signal).then(onReady, () => undefined);
      await manager.run(signal);
      await started;
    });
  }

  /** Ends all; what they were at may end in its time. */
  async stop(): Promise<void> {
    const stopping = { isOver: false };
    const stopped = Promise.all(this.#stops.splice(0).map((stop) => stop())).finally(() => {
      stopping.isOver = true;
    });
    const { clock } = this.#target;
    while (!stopping.isOver && clock instanceof VirtualClock) await this.#passTime();
    await stopped;
  }

  /** Calls `check` until it throws no more; time goes on meanwhile. */
  eventually<T>(check: () => Promise<T>): Promise<T> {
    return this.#target.eventually(async () => {
      await this.#passTime();
      return check();
    });
  }

  /** A fifth of a second, where the clock is the spec's own. */
  async #passTime(): Promise<void> {
    const { clock } = this.#target;
    if (clock instanceof VirtualClock) await clock.advance(200);
  }
}
