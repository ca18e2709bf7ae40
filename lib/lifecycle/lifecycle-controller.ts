import { controllerFor } from '../controller/index.js';
import type { ControllerBuilder, Controller, ControllerOptions } from '../controller/index.js';
import type { LifecycleObject } from './lifecycle-status.js';
import type { LifecycleReconciler } from './reconciler/lifecycle-reconciler.js';

/** Options of {@link lifecycleController}. */
export interface LifecycleControllerOptions extends ControllerOptions {
  /** The version of the running operator, for example from its `package.json`. */
  readonly operatorVersion: string;
}

/**
 * Makes a controller that reconciles all configurations with `reconciler`. Add it to a Manager.
 * @param configure - adds watches of other kinds. @defaultValue no other watches
 */
export function lifecycleController<CR extends LifecycleObject>(
  reconciler: LifecycleReconciler<CR>,
  { operatorVersion, ...options }: LifecycleControllerOptions,
  configure: (controller: ControllerBuilder) => ControllerBuilder = (controller) => controller,
): Controller {
  return configure(controllerFor(reconciler.type).from(reconciler.ownedKinds))
    .withOptions(options)
    .complete((context) => reconciler.reconcile(context, operatorVersion));
}
