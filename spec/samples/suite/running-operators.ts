import { Manager } from '../../../lib/manager/index.js';
import type { ManagerOptions, OperatorDefinition } from '../../../lib/manager/index.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import type { BuilderTarget } from '../../builder/suite/target.js';

/** Arguments of an operator that is started here. */
export interface OperatorTerms {
  /** Aborts to stop the operator. */
  readonly signal: AbortSignal;
  /** Callback for the operator to call when it works. */
  readonly onReady: () => void;
}

/** Operators that a stage has started. */
export class RunningOperators {
  readonly #target: BuilderTarget;
  readonly #stops: (() => Promise<void>)[] = [];

  constructor(target: BuilderTarget) {
    this.#target = target;
  }

  /** Starts an operator; resolves when it works. @throws its error if it ends before that */
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

  /** Starts an operator in its own manager; resolves when it works. */
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

  /** Stops all operators; running reconciles may finish in their time. */
  async stop(): Promise<void> {
    const stopping = { isOver: false };
    const stopped = Promise.all(this.#stops.splice(0).map((stop) => stop())).finally(() => {
      stopping.isOver = true;
    });
    const { clock } = this.#target;
    while (!stopping.isOver && clock instanceof VirtualClock) await this.#passTime();
    await stopped;
  }

  /** Calls `check` until it no longer throws; time advances meanwhile. */
  eventually<T>(check: () => Promise<T>): Promise<T> {
    return this.#target.eventually(async () => {
      await this.#passTime();
      return check();
    });
  }

  /** Advances a fifth of a second if the spec owns the clock. */
  async #passTime(): Promise<void> {
    const { clock } = this.#target;
    if (clock instanceof VirtualClock) await clock.advance(200);
  }
}
