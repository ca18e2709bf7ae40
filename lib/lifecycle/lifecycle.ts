import type { ObjectEvent, Recorder } from '../events/index.js';
import { groupOfType } from '../object/index.js';
import type { ControllerStyle } from '../operator/index.js';
import type { CrManager, LifecycleObject } from './lifecycle-status.js';
import { LifecycleReconciler } from './reconciler/lifecycle-reconciler.js';
import { nameList } from './reconciler/settings.js';
import type { LifecycleReconcilerOptions } from './reconciler/settings.js';
import { controllerFor, UnfinishedFailure } from '../controller/index.js';
import type { ControllerBuilder, Controller, ControllerOptions } from '../controller/index.js';
import { OperatorError } from '../system/index.js';

/** Options of {@link lifecycle}. */
export interface LifecycleOptions<CR extends LifecycleObject>
  extends
    Partial<
      Omit<LifecycleReconcilerOptions<CR>, 'crManager' | 'client' | 'recorder' | 'clock' | 'logger'>
    >,
    Pick<CrManager<CR>, 'isCreating' | 'status' | 'withStatus'> {
  /** The semantic version of the deployed system; objects of an older version are upgraded. */
  readonly version: string;
  /**
   * Returns every desired object for a configuration, complete, in the order of creation. Objects of the
   * controller's owned kinds that are no longer returned are pruned.
   */
  readonly resources: CrManager<CR>['getAllResources'];
  /** Called with each Event, before it is written. @defaultValue no call */
  readonly onEvent?: ((event: ObjectEvent) => void) | undefined;
}

/**
 * Installs, upgrades, monitors and removes a whole system for each object of an operator's controller. Name
 * the kinds of earlier releases in `owns` as well, so that their objects are pruned.
 *
 * @example
 * ```ts
 * operator
 *   .for(Website)
 *   .owns(Deployment, Service)
 *   .uses(lifecycle({ version: '1.2.0', resources: (website) => [deploymentOf(website)] }));
 * ```
 * @throws OperatorError `InvalidOption`: the version is missing or not a text, or `resources` is not a function.
 */
export function lifecycle<CR extends LifecycleObject>(
  options: LifecycleOptions<CR>,
): ControllerStyle<CR> {
  const { version, resources, onEvent, isCreating, status, withStatus, ...others } = options;
  // The version may be missing in plain JavaScript, or if it comes from an environment variable.
  if (typeof (version as unknown) !== 'string' || version === '') {
    const got = version === '' ? 'an empty one' : typeof version;
    const message = `lifecycle: version: want a text, the version of the deployed system, got ${got}`;
    throw new OperatorError('InvalidOption', message);
  }
  if (typeof (resources as unknown) !== 'function') {
    const message = `lifecycle: resources: want a function, got ${typeof resources}`;
    throw new OperatorError('InvalidOption', message);
  }
  return {
    addTo: (manager, { name, operatorName, type, owns, options: controller, ...links }) => {
      const { client, clock, logger } = manager;
      const crManager: CrManager<CR> = {
        ...{ type, getAllResources: resources, getDependantResourceTypes: () => owns },
        ...(isCreating !== undefined && { isCreating }),
        ...(status !== undefined && { status }),
        ...(withStatus !== undefined && { withStatus }),
      };
      nameList(crManager, 'resources');
      const group = groupOfType(type);
      const { namespace = process.env['POD_NAMESPACE'] ?? 'default' } = others;
      const { finalizer = finalizerOf(group, name) } = others;
      const reconciler = new LifecycleReconciler<CR>({
        ...{ ...others, namespace, finalizer },
        ...{ crManager, client, clock, logger },
        recorder: recorderOf(manager.eventRecorder(operatorName), onEvent),
      });
      const settings = { ...controller, name, operatorVersion: version };
      manager.add(lifecycleController(reconciler, settings, links.configure), {
        ...links.place,
        requires: [...reconciler.requires, ...links.requires],
      });
    },
  };
}

function recorderOf(
  recorder: Recorder,
  onEvent: ((event: ObjectEvent) => void) | undefined,
): Recorder {
  if (onEvent === undefined) return recorder;
  return {
    record: (event) => {
      onEvent(event);
      recorder.record(event);
    },
  };
}

function finalizerOf(group: string, name: string): string {
  return `${group === '' ? name : `${name}.${group}`}/lifecycle`;
}

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
    .complete((context) =>
      reconciler.reconcile(context, operatorVersion).catch((error: unknown) => {
        // Reconcile again even after a terminal error: otherwise objects that the option `perishablesSynchronizer`
        // renews would expire.
        throw new UnfinishedFailure(error, reconciler.perishablesSyncIntervalMs);
      }),
    );
}
