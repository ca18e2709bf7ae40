import type { Controller, ControllerSettings, RunningController } from '../controller/index.js';
import { endsWithin } from '../system/index.js';
import type { Resolved } from '../system/index.js';
import type { ManagedCluster } from './managed-cluster.js';
import { unwindMs } from './runnable.js';

/** Dependencies that the controllers of a manager share. */
export interface ControllerGroupParts extends Resolved<
  Omit<ControllerSettings, 'signal' | 'standby'>,
  'tracer' | 'onEvent' | 'fence' | 'ownership'
> {
  /** Clusters at the time a controller starts. */
  readonly clusters: ReadonlyMap<string, ManagedCluster>;
  /** Called with the error of a controller that can't reconcile. */
  readonly failed: (error: unknown) => void;
}

interface Stopping {
  readonly controller: Controller;
  readonly running: RunningController;
  readonly ended: Promise<void>;
}

/** Controllers that are activated together: on every replica, or on the leader. */
export class ControllerGroup {
  readonly #parts: ControllerGroupParts;
  readonly #running = new Map<Controller, RunningController>();
  // Controllers that are stopping. They are never activated again, but `stop` and `standBy` wait for them.
  readonly #stopping = new Set<Stopping>();
  /** Stopped controllers whose reconciles ignored their signals. */
  readonly #unfinished = new Set<RunningController>();
  #isActive = false;

  constructor(parts: ControllerGroupParts) {
    this.#parts = parts;
  }

  /** True if the group's controllers may reconcile. */
  get isActive(): boolean {
    return this.#isActive;
  }

  /** Returns a running or stopping controller; undefined if it was not started. */
  running(controller: Controller): RunningController | undefined {
    const isIt = (each: Stopping): boolean => each.controller === controller;
    return this.#running.get(controller) ?? [...this.#stopping].find(isIt)?.running;
  }

  /** Stopped controllers with reconciles that have not ended: their names, with the first keys. */
  get unfinished(): readonly string[] {
    const stopped = [...[...this.#stopping].map(({ running }) => running), ...this.#unfinished];
    return stopped.filter(isReconciling).map(nameWithKeys);
  }

  /** Starts a controller: its caches sync; it reconciles as soon as the group is active. */
  start(controller: Controller): void {
    const running = this.#newRunning(controller);
    if (this.#isActive) this.#activate(running);
  }

  /** Activates all controllers, and those that start later. */
  activate(): void {
    if (this.#isActive) return;
    this.#isActive = true;
    for (const running of this.#running.values()) this.#activate(running);
  }

  /**
   * Adds a cluster to all controllers.
   * @throws the error of a controller. The controllers before that one keep the cluster.
   */
  addCluster(cluster: ManagedCluster): void {
    for (const running of this.#running.values()) running.addCluster(cluster.forControllers);
  }

  /** Removes a cluster from all controllers; reconciles have `graceMs` to end. */
  async removeCluster(name: string, graceMs: number): Promise<void> {
    const stopping = [...this.#stopping].map(({ running }) => running);
    const running = [...this.#running.values(), ...stopping];
    await Promise.all(running.map((each) => each.removeCluster(name, graceMs)));
  }

  /**
   * Stops all controllers, or one; reconciles have `graceMs` to end, including those of controllers that were
   * stopping already.
   */
  async stop(graceMs: number, only?: Controller): Promise<void> {
    const isMeant = (controller: Controller): boolean => only === undefined || controller === only;
    if (only === undefined) this.#isActive = false;
    const earlier = [...this.#stopping].filter(({ controller }) => isMeant(controller));
    const ends = [...this.#running]
      .filter(([controller]) => isMeant(controller))
      .map(([controller, running]) => this.#stop(controller, running, graceMs));
    await Promise.all([...ends, ...earlier.map((each) => this.#hasten(each, graceMs))]);
  }

  /**
   * Aborts every reconcile and waits for the next activation; the caches stay. Resolves when no reconcile is
   * running.
   */
  async standBy(): Promise<void> {
    this.#isActive = false;
    const [before, earlier] = [[...this.#running], [...this.#stopping]];
    // Start the new controllers before the old ones stop, because the cache stops watching a kind that no controller
    // uses.
    for (const [controller] of before) this.#newRunning(controller);
    await Promise.all([
      ...before.map(([controller, running]) => this.#stop(controller, running, 0)),
      ...earlier.map((each) => this.#hasten(each, 0)),
    ]);
  }

  #activate(running: RunningController): void {
    running.activate().catch((error: unknown) => this.#parts.failed(error));
  }

  async #stop(controller: Controller, running: RunningController, graceMs: number): Promise<void> {
    if (this.#running.get(controller) === running) this.#running.delete(controller);
    const stopping: Stopping = { controller, running, ended: running.stop(graceMs) };
    this.#stopping.add(stopping);
    try {
      await stopping.ended;
    } finally {
      this.#stopping.delete(stopping);
      this.#unfinished.add(running);
      for (const each of this.#unfinished) if (!isReconciling(each)) this.#unfinished.delete(each);
    }
  }

  /** Aborts a stopping controller if it has not ended within `graceMs`. Its own grace period may be longer. */
  async #hasten({ running, ended }: Stopping, graceMs: number): Promise<void> {
    const { clock } = this.#parts;
    if (graceMs > 0 && (await endsWithin(ended, graceMs, clock))) return;
    void running.stop(0);
    await endsWithin(ended, unwindMs, clock);
  }

  #newRunning(controller: Controller): RunningController {
    const { clusters, clock, random, logger, metrics, tracer, onEvent } = this.#parts;
    const { gracefulShutdownMs, fence, ownership } = this.#parts;
    const running = controller.start({
      clusters: [...clusters.values()].map((cluster) => cluster.forControllers),
      ...{ clock, random, logger, metrics, tracer, onEvent },
      ...{ gracefulShutdownMs, fence, ownership, standby: true },
    });
    this.#running.set(controller, running);
    return running;
  }
}

function isReconciling(running: RunningController): boolean {
  return running.status().active.length > 0;
}

const namedKeys = 3;

function nameWithKeys(running: RunningController): string {
  const { active } = running.status();
  const keys = active.map(({ cluster, key }) => (cluster === '' ? key : `${cluster}/${key}`));
  const more = keys.length > namedKeys ? ` and ${keys.length - namedKeys} more` : '';
  return `${running.name} (${keys.slice(0, namedKeys).join(', ')}${more})`;
}
