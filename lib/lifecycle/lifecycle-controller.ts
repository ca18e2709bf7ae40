import { controllerFor } from '../controller/controller-builder.js';
import type { Controller } from '../controller/controller.js';
import type { ControllerOptions } from '../controller/controller-options.js';
import type { LifecycleObject } from './lifecycle-status.js';
import type { CrManager } from './cr-manager.js';
import type { LifecycleReconciler } from './reconciler/lifecycle-reconciler.js';

/** Options of {@link lifecycleController}. */
export interface LifecycleControllerOptions<CR extends LifecycleObject> extends ControllerOptions {
  /** The kind of the configurations. */
  readonly type: CrManager<CR>['type'];
  /** The version of the operator that runs, for example that of its `package.json`. */
  readonly operatorVersion: string;
}

/** A controller, for a Manager, that has `reconciler` look after all configurations. */
export function lifecycleController<CR extends LifecycleObject>(
  reconciler: LifecycleReconciler<CR>,
  { type, operatorVersion, ...options }: LifecycleControllerOptions<CR>,
): Controller {
  return controllerFor(type)
    .from(reconciler.ownedKinds)
    .withOptions(options)
    .complete((context) => reconciler.reconcile(context, operatorVersion));
}
