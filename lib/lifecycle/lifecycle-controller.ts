import { controllerFor } from '../controller/controller-builder.js';
import type { ControllerBuilder } from '../controller/controller-builder.js';
import type { Controller } from '../controller/controller.js';
import type { ControllerOptions } from '../controller/controller-options.js';
import type { LifecycleObject } from './lifecycle-status.js';
import type { LifecycleReconciler } from './reconciler/lifecycle-reconciler.js';

/** Options of {@link lifecycleController}. */
export interface LifecycleControllerOptions extends ControllerOptions {
  /** The version of the operator that runs, for example that of its `package.json`. */
  readonly operatorVersion: string;
}

/**
 * A controller, for a Manager, that has `reconciler` look after all configurations.
 * @param configure - adds watches of other kinds. @defaultValue none
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
