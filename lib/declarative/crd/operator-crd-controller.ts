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
 * Runs an operator in `group` for each `Operator` object of the cluster, and writes into the status of
 * the object how it is doing. The custom resource is installed by who calls: `ensureCrd` with
 * `OperatorResource.crd`.
 *
 * ## Guarantees
 * - A change of an object replaces only the controllers that changed. The status says of which
 *   generation it is; it is written when it says something new, at most once a second.
 * - With the annotation `operator-builder.io/clean-up: delete` what removed controllers wrote goes, and
 *   when the object is deleted, all that its controllers wrote: also when the process ended meanwhile. A
 *   finalizer keeps the object until then. Without it there is none, and what was written stays.
 *
 * ## Caveats
 * - An operator that the group has from elsewhere is left alone: the status of an object of its name
 *   says so.
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
