import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import { resolveRuntime } from './controller-runtime.js';
import type { ControllerRuntime, MultiClusterRuntime } from './controller-runtime.js';
import { RunningController } from './running-controller.js';
import type { ControllerDefinition, ControllerKind } from './controller-definition.js';
import { reconcileOnce } from './reconcile-once.js';
import type { SingleReconcile } from './reconcile-once.js';
import type { Result } from './result.js';

/** A controller that is ready to start. It holds no state, so it can be started again or several times. */
export class Controller {
  readonly #definition: ControllerDefinition;

  /** @internal Use `controllerFor`. */
  constructor(definition: ControllerDefinition) {
    this.#definition = definition;
  }

  /** The name in logs and metrics. */
  get name(): string {
    return this.#definition.options.name;
  }

  /** The kind whose objects are reconciled. */
  get type(): TypeReference<KubernetesObject> {
    return this.#definition.type;
  }

  /** The declared kinds: the reconciled kind, then the owned and watched kinds. */
  get kinds(): readonly ControllerKind[] {
    return this.#definition.kinds;
  }

  /**
   * Reconciles one key once, without starting the controller: no watch, no cache, no queue. For tools, such
   * as one that plans changes.
   * @returns the reconciler's result
   * @throws the reconciler's error
   * @throws OperatorError `Timeout`: the reconcile took longer than the controller's `reconcileTimeoutMs`
   * @throws OperatorError `Aborted`: `signal` was aborted
   */
  reconcileOnce(reconcile: SingleReconcile): Promise<Result> {
    return reconcileOnce(this.#definition, reconcile);
  }

  /**
   * Starts the controller. Its sources start at once. Reconciles start per cluster as soon as that cluster's
   * sources are synced; in `standby`, not before `activate`. The caller must start the caches, before or
   * after.
   * @throws OperatorError `InvalidOption`: two clusters share a name, or a name contains a slash.
   * @throws the error of a source that can't be started.
   */
  start(runtime: ControllerRuntime | MultiClusterRuntime): RunningController {
    return new RunningController(this.#definition, resolveRuntime(runtime));
  }
}
