import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import { resolveRuntime } from './controller-runtime.js';
import type { ControllerRuntime, MultiClusterRuntime } from './controller-runtime.js';
import { RunningController } from './running-controller.js';
import type { ControllerDefinition, ControllerKind } from './controller-definition.js';
import { reconcileOnce } from './reconcile-once.js';
import type { SingleReconcile } from './reconcile-once.js';
import type { Result } from './result.js';

/** A controller, ready to be started; it holds no state, so it can be started again and elsewhere. */
export class Controller {
  readonly #definition: ControllerDefinition;

  /** @internal Use `controllerFor`. */
  constructor(definition: ControllerDefinition) {
    this.#definition = definition;
  }

  /** Its name, in logs and metrics. */
  get name(): string {
    return this.#definition.options.name;
  }

  /** The kind whose objects are reconciled. */
  get type(): TypeReference<KubernetesObject> {
    return this.#definition.type;
  }

  /** The kinds that it declares: what it reconciles, then what it owns and watches. */
  get kinds(): readonly ControllerKind[] {
    return this.#definition.kinds;
  }

  /**
   * Reconciles one key once, without having been started: no watch, no cache, no queue. For tools, such
   * as one that plans.
   * @returns what the reconciler returned
   * @throws what it threw
   * @throws OperatorError `Timeout`: it took longer than the controller's `reconcileTimeoutMs`
   * @throws OperatorError `Aborted`: `signal` was aborted
   */
  reconcileOnce(reconcile: SingleReconcile): Promise<Result> {
    return reconcileOnce(this.#definition, reconcile);
  }

  /**
   * Starts it: its sources begin at once, reconciles as soon as these are synced (not before
   * `activate` in `standby`), on several clusters as soon as those of each one are. The caches have
   * to be started by the caller, before or after.
   * @throws OperatorError `InvalidOption`: two clusters share a name, or it has a slash.
   * @throws what a source throws that can't be started.
   */
  start(runtime: ControllerRuntime | MultiClusterRuntime): RunningController {
    return new RunningController(this.#definition, resolveRuntime(runtime));
  }
}
