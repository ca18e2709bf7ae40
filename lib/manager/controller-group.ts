import type { Controller } from '../controller/controller.js';
import type { ControllerEventListener } from '../controller/controller-event.js';
import type { RunningController } from '../controller/running-controller.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import type { Metrics } from '../system/metrics.js';
import type { Random } from '../system/random.js';
import type { ManagedCluster } from './managed-cluster.js';

/** What the controllers of a manager share. */
export interface ControllerGroupParts {
  readonly clusters: readonly ManagedCluster[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly gracefulShutdownMs: number;
  readonly onEvent: ControllerEventListener | undefined;
  /** Told when a controller can't reconcile. */
  readonly failed: (error: unknown) => void;
}

/** The controllers that become active together: on every replica, or on the leader. */
export class ControllerGroup {
  readonly #parts: ControllerGroupParts;
  readonly #running = new Map<Controller, RunningController>();
  #isActive = false;

  constructor(parts: ControllerGroupParts) {
    this.#parts = parts;
  }

  /** Whether its controllers reconcile. */
  get isActive(): boolean {
    return this.#isActive;
  }

  /** The controller at work, or undefined where it was not started. */
  running(controller: Controller): RunningController | undefined {
    return this.#running.get(controller);
  }

  /** Starts a controller: its caches fill; it reconciles when the group is active. */
  start(controller: Controller): void {
    const running = controller.start(this.#runtime());
    this.#running.set(controller, running);
    if (this.#isActive) this.#activate(running);
  }

  /** Lets the controllers reconcile, now and those that are started later. */
  activate(): void {
    if (this.#isActive) return;
    this.#isActive = true;
    for (const running of this.#running.values()) this.#activate(running);
  }

  /** Ends the controllers, or one of them; their reconciles have `graceMs` to end. */
  async stop(graceMs: number, only?: Controller): Promise<void> {
    const stopping = [...this.#running].filter(
      ([controller]) => only === undefined || controller === only,
    );
    if (only === undefined) this.#isActive = false;
    await Promise.all(stopping.map(([, running]) => running.stop(graceMs)));
    for (const [controller, running] of stopping) {
      if (this.#running.get(controller) === running) this.#running.delete(controller);
    }
  }

  /**
   * Ends every reconcile at once and waits for the next activation; what was cached stays cached.
   * Resolves when no reconcile goes on.
   */
  async standBy(): Promise<void> {
    this.#isActive = false;
    const before = [...this.#running];
    // The new ones first: a cache that nobody uses any more is dropped.
    for (const [controller] of before) {
      this.#running.set(controller, controller.start(this.#runtime()));
    }
    await Promise.all(before.map(([, running]) => running.stop(0)));
  }

  #activate(running: RunningController): void {
    running.activate().catch((error: unknown) => this.#parts.failed(error));
  }

  #runtime(): Parameters<Controller['start']>[0] {
    const { clusters, clock, random, logger, metrics, onEvent } = this.#parts;
    const { gracefulShutdownMs } = this.#parts;
    const [home] = clusters;
    if (home === undefined) throw new TypeError('a manager has at least one cluster');
    const { client, cache } = home;
    return {
      ...{ client, cache, clock, random, logger, metrics, onEvent },
      ...{ gracefulShutdownMs, standby: true },
    };
  }
}
