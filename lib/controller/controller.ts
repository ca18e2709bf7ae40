import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import { resolveRuntime } from './controller-runtime.js';
import type { ControllerRuntime } from './controller-runtime.js';
import { RunningController } from './running-controller.js';
import type { ControllerDefinition } from './running-controller.js';

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

  /**
   * Starts it: its sources begin at once, reconciles as soon as these are synced (not before
   * `activate` in `standby`). The cache has to be started by the caller, before or after.
   */
  start(runtime: ControllerRuntime): RunningController {
    return new RunningController(this.#definition, resolveRuntime(runtime));
  }
}
