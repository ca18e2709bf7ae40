import { Cache, cachedClient } from '../../cache/index.js';
import { controllerFor, UnfinishedFailure } from '../../controller/index.js';
import type { Controller, Result, Source } from '../../controller/index.js';
import { EventRecorder } from '../../events/index.js';
import { watchVerbs, Manager, recorderEnd } from '../../manager/index.js';
import type {
  RequiredAccess,
  Added,
  ManagerAddOptions,
  ManagerOptions,
  Runnable,
} from '../../manager/index.js';
import { CustomResourceDefinition, Event, keyOf } from '../../object/index.js';
import type { KubernetesObject, ObjectKey } from '../../object/index.js';
import { noMetrics, OperatorError } from '../../system/index.js';
import { InvalidConfigError, messageOf } from '../errors.js';
import { crdInstaller, resolveFrameworkOptions } from './framework-options.js';
import { feedEvents, manualSource } from './feed-events.js';
import type { FrameworkEvents, ManualSource } from './feed-events.js';
import { metricsSource, newFrameworkMetrics, OwnRecorder } from './framework-metrics.js';
import type { FrameworkMetrics } from './framework-metrics.js';
import type { FrameworkOptions, ResolvedFrameworkOptions } from './framework-options.js';
import { FrameworkReconciler } from './framework-reconciler.js';
import type { FrameworkPass, FrameworkReporting } from './framework-reconciler.js';

/** Options of adding a framework's controller to a manager. */
export type FrameworkAddOptions = Pick<ManagerAddOptions, 'phase' | 'shards' | 'requires'>;

/** Options of the manager that {@link Framework.run} makes. */
export type FrameworkRunOptions = Omit<ManagerOptions, 'client' | 'clusters'> &
  Pick<ManagerAddOptions, 'shards'>;

/**
 * Reconciles the objects of a kind by chains of resources.
 *
 * ## Flow Each reconcile selects the set that handles the object. A live object first gets the finalizer, then
 * `ensureCreated` of each resource of the set runs. For an object that is being deleted and has the finalizer,
 * `ensureDeleted` of each resource runs, and then the finalizer is removed.
 *
 * ## Guarantees
 * - Two reconciles of one object never overlap; different objects are reconciled in parallel.
 * - Nothing is created for an object before it has the finalizer, so that `ensureDeleted` covers all of it.
 * - An error ends the chain; the object is retried with its own growing back-off. The process never exits.
 *
 * ## Caveats
 * - A framework runs once, as a `Manager` does; make a new one to start again.
 * - An object that no set handles keeps the finalizer, so its deletion cannot complete; a Warning event
 *   reports that.
 *
 * @example
 * ```ts
 * const framework = new Framework({
 *   name: 'tenants',
 *   type: Tenant,
 *   client,
 *   resourceRouter: new ResourceRouter({ resourceSets: [v1, v2] }),
 * }); await framework.run(signal);
 * ```
 */
export class Framework<T extends KubernetesObject = KubernetesObject> {
  /** Add it to a manager together with `runnables`; `addTo` does both. */
  readonly controller: Controller;
  /** The runnables that the controller depends on. */
  readonly runnables: readonly Runnable[];
  /** The access that the framework itself needs, for the permission preflight. Resources need more. */
  readonly requires: readonly RequiredAccess[];
  readonly #options: ResolvedFrameworkOptions<T>;
  readonly #manual: ManualSource;
  readonly #reconciler: FrameworkReconciler<T>;
  readonly #direct: DirectPasses;
  readonly #ownRecorder: OwnRecorder | undefined;
  #metrics: FrameworkMetrics;
  #manager: Manager | undefined;

  /** @throws InvalidConfigError an option is missing, out of its range, or contradicts another. */
  constructor(options: FrameworkOptions<T>) {
    this.#options = resolveFrameworkOptions(options);
    const { name, crd, recorder, metrics = noMetrics } = this.#options;
    this.#metrics = newFrameworkMetrics(metrics, this.#options);
    const own = new OwnRecorder(() => this.#newRecorder());
    this.#ownRecorder = recorder === undefined ? own : undefined;
    const reporting: FrameworkReporting = {
      recorder: recorder ?? own,
      metrics: () => this.#metrics,
    };
    this.#reconciler = new FrameworkReconciler(this.#options, reporting);
    this.#manual = manualSource(`${name} events`);
    this.#direct = new DirectPasses((pass) => this.#reconciler.reconcile(pass), this.#options);
    this.controller = this.#newController(this.#sources());
    this.runnables = [
      ...(crd === undefined ? [] : [crdInstaller(crd, this.#options)]),
      ...(this.#ownRecorder === undefined
        ? []
        : [recorderEnd(name, this.#ownRecorder, this.#options.clock)]),
    ];
    this.requires = frameworkAccess(this.#options);
  }

  get name(): string {
    return this.#options.name;
  }

  /** The finalizer that the framework adds to `metadata.finalizers`: `<prefix>/<name>`. */
  get finalizer(): string {
    return this.#options.finalizer;
  }

  /**
   * Adds the framework to a manager, which may run other controllers and frameworks too. Without `metrics`,
   * it uses the manager's.
   * @returns a handle that removes the framework from the manager
   * @throws OperatorError `InvalidOption`: the manager has a controller of this name.
   * @throws OperatorError `AlreadyStarted`: it was added to another manager, or run, before.
   */
  addTo(manager: Manager, options: FrameworkAddOptions = {}): Added {
    const { requires = [], ...place } = options;
    // For the same manager, `manager.add` throws an error that names the taken name.
    if (this.#manager !== undefined && this.#manager !== manager) {
      const message = `framework ${this.name}: it is in a manager already; make a new one`;
      throw new OperatorError('AlreadyStarted', message);
    }
    const all = [...this.requires, ...requires];
    const added = [manager.add(this.controller, { ...place, requires: all })];
    this.#manager = manager;
    for (const runnable of this.runnables) added.push(manager.add(runnable));
    if (this.#options.metrics === undefined) {
      this.#metrics = newFrameworkMetrics(manager.metrics, this.#options);
    }
    return {
      name: this.name,
      remove: async (graceMs) => {
        // Stop the controller first: the other runnables serve it.
        for (const each of added) await each.remove(graceMs);
        this.#manager = undefined;
      },
    };
  }

  /**
   * Runs in its own manager until `signal` is aborted; resolves when everything has stopped.
   * @throws the last error of installing the CRD.
   * @throws OperatorError `AlreadyStarted`: it was run, or added to a manager, before.
   * @throws the errors of `Manager.run`.
   */
  async run(signal: AbortSignal, options: FrameworkRunOptions = {}): Promise<void> {
    const { shards, ...own } = options;
    const { client, clock, random, logger } = this.#options;
    // The CRD installation has its own limit of retries.
    const { startTimeoutMs = Infinity } = own;
    const manager = new Manager({ client, clock, random, logger, ...own, startTimeoutMs });
    this.addTo(manager, { shards });
    await manager.run(signal);
  }

  /**
   * Reconciles an object that an external informer reports as created or changed. While the framework runs or
   * stands by, the object is queued as if its own informer had reported it. Before its manager runs, and
   * after it has stopped, the call does nothing. Without a manager, the call reconciles the object directly,
   * after earlier calls for the same object. An error is logged, recorded and counted; only the next call
   * retries. Pass a `recorder` to a framework that never runs: its built-in recorder is not stopped.
   */
  async updateFunc(_old: T | undefined, object: T): Promise<void> {
    await this.#look(object);
  }

  /** Like {@link Framework.updateFunc}, for an object that was deleted. */
  async deleteFunc(object: T): Promise<void> {
    await this.#look(object);
  }

  /**
   * Reconciles the objects of three streams until `signal` is aborted: deleted objects, created or changed
   * objects, and errors, which are logged and counted. Without a manager and a running controller, starts a
   * controller that does not watch the kind.
   * @throws the error of a stream.
   * @throws the last error of installing the CRD.
   */
  async processEvents(events: FrameworkEvents<T>, signal: AbortSignal): Promise<void> {
    const failed = (error: unknown): void => {
      this.#metrics.events.add(1, { event: 'error' });
      this.#options.logger.error(`framework ${this.name}: the informer failed`, { error });
    };
    const visit = {
      updated: (object: T) => this.updateFunc(undefined, object),
      deleted: (object: T) => this.deleteFunc(object),
      failed,
      cleanUpFailed: (error: unknown) => {
        const what = `framework ${this.name}: the clean-up of a stream of events failed`;
        this.#options.logger.warn(what, { error });
      },
    };
    await this.#whileRunning(signal, () => feedEvents(events, visit, signal));
  }

  async #look(object: T): Promise<void> {
    const key = keyOf(object);
    if (this.#manual.enqueue(key)) return;
    // The manager decides when the framework may work; its controller then starts with all existing objects.
    if (this.#manager !== undefined)
      this.#options.logger.debug(`framework ${this.name}: does not run`, { ...key });
    else await this.#direct.run(key);
  }

  async #whileRunning(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    if (this.#manual.isRunning || this.#manager !== undefined) return work();
    const { client, clock, random, logger, metrics = noMetrics, crd } = this.#options;
    if (crd !== undefined) {
      await crdInstaller(crd, this.#options).run({ signal, logger, ready: () => undefined });
    }
    const cache = new Cache({ client, clock, random, logger, metrics });
    const reader = cachedClient(client, cache, { clock });
    const parts = { client: reader, cache, clock, random, logger, metrics };
    // The watches that `configure` adds need a running cache.
    cache.start();
    const running = this.#newController({ self: this.#manual, others: [] }).start(parts);
    try {
      await work();
    } finally {
      await running.stop();
      await cache.stop();
      await this.#ownRecorder?.stop();
    }
  }

  #sources(): FrameworkSources {
    const { informer, name, type } = this.#options;
    if (informer !== undefined) return { self: informer, others: [this.#manual] };
    return {
      self: undefined,
      others: [this.#manual, metricsSource({ name, type }, () => this.#metrics)],
    };
  }

  #newController({ self, others }: FrameworkSources): Controller {
    const { name, type, controller: options, configure } = this.#options;
    try {
      const base = controllerFor(type, { source: self }).withOptions({ ...options, name });
      const all = others.reduce((builder, source) => builder.from(source), base);
      const builder = configure?.(all) ?? all;
      return builder.complete((context) => this.#reconciler.reconcile(context));
    } catch (cause) {
      throw new InvalidConfigError(`Framework ${name}: ${messageOf(cause)}`, { cause });
    }
  }

  #newRecorder(): EventRecorder {
    const { name: controllerName, client, clock, random, logger } = this.#options;
    const { metrics = this.#manager?.metrics } = this.#options;
    return new EventRecorder({ client, controllerName, clock, random, logger, metrics });
  }
}

/** The event sources of a framework's controller. */
interface FrameworkSources {
  /** Undefined for a watch of the kind. */
  readonly self: Source | undefined;
  readonly others: readonly Source[];
}

/** Returns the access that a framework needs, apart from its resources. */
function frameworkAccess<T extends KubernetesObject>({
  type,
  crd,
  recorder,
}: Pick<ResolvedFrameworkOptions<T>, 'type' | 'crd' | 'recorder'>): readonly RequiredAccess[] {
  const definitions: readonly RequiredAccess[] =
    crd === undefined
      ? []
      : [{ type: CustomResourceDefinition, verbs: [...watchVerbs, 'create', 'patch'] }];
  const events: readonly RequiredAccess[] =
    recorder === undefined ? [{ type: Event, verbs: ['create', 'patch'] }] : [];
  return [
    ...definitions,
    { type, verbs: [...watchVerbs, 'patch'] },
    { type, verbs: ['patch'], subresource: 'status' },
    ...events,
  ];
}

type Parts = Pick<
  ResolvedFrameworkOptions<KubernetesObject>,
  'client' | 'logger' | 'name' | 'type'
>;

/** Runs reconciles directly when called, without a queue. */
class DirectPasses {
  readonly #reconcile: (pass: FrameworkPass) => Promise<Result>;
  readonly #parts: Parts;

  constructor(reconcile: (pass: FrameworkPass) => Promise<Result>, parts: Parts) {
    this.#reconcile = reconcile;
    this.#parts = parts;
  }

  /** Resolves when a reconcile that began after the call has ended. Never throws: errors are logged. */
  async run(key: ObjectKey): Promise<void> {
    const { client, name, type } = this.#parts;
    const logger = this.#parts.logger.child({ controller: name, kind: type.kind, ...key });
    const { signal } = new AbortController();
    try {
      const pass = { key, cluster: '', client, signal, logger };
      const result = await this.#reconcile(pass);
      // The first reconcile added the finalizer: continue at once, as a queue would.
      if (result.type === 'requeueAfter' && result.afterMs <= 1) await this.#reconcile(pass);
    } catch (thrown) {
      const error = thrown instanceof UnfinishedFailure ? thrown.cause : thrown;
      logger.error('reconcile failed', { error });
    }
  }
}
