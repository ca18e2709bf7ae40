import { controllerFor, annotationChanged, generationChanged, or } from '../../controller/index.js';
import type { Controller, ControllerOptions, Source } from '../../controller/index.js';
import type { RequiredAccess } from '../../manager/index.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import type { Group } from '../operator/group.js';
import { OperatorObjects } from './operator-objects.js';
import { OperatorResource } from './operator-resource.js';

/** Options of {@link operatorCrdController}. */
export interface OperatorCrdControllerOptions extends Pick<ControllerOptions, 'name'> {
  /** The group that runs the operators. The caller starts it. */
  readonly group: Group;
}

/**
 * The access that {@link operatorCrdController} needs besides watching `Operator` objects, for `Manager.add`.
 */
export const operatorCrdAccess: readonly RequiredAccess[] = [
  { type: OperatorResource, verbs: ['patch'] },
  { type: OperatorResource, verbs: ['patch'], subresource: 'status' },
];

/**
 * Returns a controller that runs an operator in `group` for each `Operator` object of the cluster, and
 * writes the operator's status into the object. The caller installs the custom resource: `ensureCrd` with
 * `OperatorResource.crd`.
 *
 * ## Guarantees
 * - A change of an object replaces only the changed controllers. The status names its generation. It is
 *   written only when it changes, at most once a second.
 * - With the annotation `operator-builder.io/clean-up: delete` the objects of removed controllers are
 *   deleted, and with an `Operator` object all objects of its controllers, even if the process was
 *   restarted meanwhile. A finalizer keeps the `Operator` object until then. Without the annotation there
 *   is no finalizer, and written objects stay.
 *
 * ## Caveats
 * - An operator that was added to the group by other means is left alone: the status of an `Operator`
 *   object with its name reports the conflict.
 *
 * @example
 * ```ts
 * const group = new Group({ manager });
 * await ensureCrd(client, OperatorResource.crd);
 * manager.add(operatorCrdController({ group }), { requires: operatorCrdAccess });
 * await group.start(signal);
 * ```
 */
export function operatorCrdController(options: OperatorCrdControllerOptions): Controller {
  const { group, name = 'operators.dcontroller.io' } = options;
  const names = { group, name };
  refuseUnknownOptions<OperatorCrdControllerOptions>('operatorCrdController', options, names);
  const objects = new OperatorObjects(group);
  const predicate = or(generationChanged(), annotationChanged());
  return controllerFor(OperatorResource, { predicate })
    .from(statusSource(group))
    .withOptions({ name, maxConcurrentReconciles: 4 })
    .complete((context) => objects.reconcile(context));
}

/** Requests a reconcile of an object when its status has changed. */
function statusSource(group: Group): Source {
  const name = 'operator status';
  return {
    name,
    start: (context) => {
      const stop = group.listen((operator) => {
        context.enqueue({ name: operator }, { trigger: { type: 'source', source: name } });
      });
      return { stop };
    },
  };
}
