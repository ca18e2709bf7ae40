import { Manager } from '../../../lib/manager/manager.js';
import type { ManagerOptions } from '../../../lib/manager/manager-options.js';
import { sleep } from '../../../lib/system/clock.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import type { BuilderTarget, Operator } from '../../builder/suite/target.js';

/** Options of {@link drivenController}. */
export interface DrivenControllerOptions {
  readonly target: BuilderTarget;
  /**
   * Adds the controllers to a manager.
   * Called again with a new manager at each restart, like a new process: create new controllers and
   * reconcilers in it.
   */
  readonly setup: (manager: Manager, operator: Operator) => void | Promise<void>;
  /** Client of the manager, with its request log. @defaultValue a new operator of the target */
  readonly operator?: Operator | undefined;
  /** Options of each manager, for example `cacheOptions`. @defaultValue none */
  readonly manager?: Partial<ManagerOptions> | undefined;
}

/** Controllers in a manager that can be restarted. */
export interface DrivenController {
  readonly operator: Operator;
  /** The current or the last manager. */
  readonly manager: Manager;
  /** Stops the manager and starts another one with empty caches and queues. */
  restart(): Promise<void>;
  /** Stops the manager. Later calls do nothing. Call it after each spec. */
  stop(): Promise<void>;
  /** Starts a manager after {@link stop}. */
  start(): Promise<void>;
  /** Advances the virtual clock of the embedded server, or waits in real time. */
  pass(ms: number): Promise<void>;
  /**
   * Calls `check` until it neither throws nor returns false, while time passes.
   * @param withinMs - the time limit on the virtual clock; on a real server it is at least a minute
   */
  eventually<R>(check: () => R | Promise<R>, withinMs?: number): Promise<R>;
}

const realBudgetMs = 60_000;

/** Runs controllers in a manager against any target, like the process of an operator. */
export async function drivenController(
  options: DrivenControllerOptions,
): Promise<DrivenController> {
  const { operator = await options.target.operator() } = options;
  const driven = new Driven(options, operator);
  await driven.start();
  return driven;
}

interface Running {
  readonly manager: Manager;
  readonly stopping: AbortController;
  readonly over: Promise<void>;
}

class Driven implements DrivenController {
  readonly operator: Operator;
  readonly #options: DrivenControllerOptions;
  #running: Running | undefined;
  #last: Manager | undefined;

  constructor(options: DrivenControllerOptions, operator: Operator) {
    this.#options = options;
    this.operator = operator;
  }

  get manager(): Manager {
    if (this.#last === undefined) throw new Error('the manager was not started');
    return this.#last;
  }

  async start(): Promise<void> {
    const { target, setup, manager: own } = this.#options;
    const { client } = this.operator;
    const manager = new Manager({ client, clock: target.clock, rbacPreflight: 'off', ...own });
    await setup(manager, this.operator);
    const stopping = new AbortController();
    const over = manager.run(stopping.signal);
    over.catch(() => undefined);
    this.#last = manager;
    this.#running = { manager, stopping, over };
  }

  async stop(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    this.#running = undefined;
    running.stopping.abort();
    const state = { isOver: false };
    const ended = (): void => void (state.isOver = true);
    running.over.then(ended, ended);
    const { clock } = this.#options.target;
    // Advances the clock for timers that the end waits for.
    while (!state.isOver && clock instanceof VirtualClock) await clock.advance(1_000);
    await running.over;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async pass(ms: number): Promise<void> {
    const { clock } = this.#options.target;
    await (clock instanceof VirtualClock ? clock.advance(ms) : sleep(clock, ms));
  }

  async eventually<R>(check: () => R | Promise<R>, withinMs = 10_000): Promise<R> {
    const { clock, real } = this.#options.target;
    const budgetMs = real ? Math.max(withinMs, realBudgetMs) : withinMs;
    const endMs = clock.monotonicMs() + budgetMs;
    for (;;) {
      const late = clock.monotonicMs() >= endMs;
      try {
        const answer = await check();
        if (answer !== false) return answer;
        if (late) throw new Error(`still false after ${budgetMs} ms: ${check.toString()}`);
      } catch (error) {
        if (late) throw error;
      }
      await this.pass(real ? 100 : 20);
    }
  }
}
