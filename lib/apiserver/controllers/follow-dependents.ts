import type { KubernetesObject, ObjectKey } from '../../object/kubernetes-object.js';
import type { LabelSelector } from '../../object/label-selector.js';
import { keyOf } from '../../object/object-key.js';
import { controllerOf } from '../../object/owner-reference.js';
import { groupOf } from '../../object/resource-type.js';
import type { ResourceType } from '../../object/resource-type.js';
import type { ControllerHost } from './controller-host.js';
import type { WorkQueue } from './work-queue.js';

/** A workload with a selector. */
export interface Selecting extends KubernetesObject {
  spec?: { selector?: LabelSelector | undefined } | undefined;
}

/** Dependents to watch, and the queue of their owners. */
export interface FollowedDependents<T extends KubernetesObject, Owner extends Selecting> {
  readonly type: ResourceType<T>;
  readonly ownerType: ResourceType<Owner>;
  readonly queue: WorkQueue<ObjectKey>;
}

/**
 * Adds an owner to its queue after a change of an object that it controls, controlled before, or could adopt.
 */
export function followDependents<T extends KubernetesObject, Owner extends Selecting>(
  host: ControllerHost,
  { type, ownerType, queue }: FollowedDependents<T, Owner>,
): void {
  const addController = (object: KubernetesObject | undefined): boolean => {
    const controller = object && controllerOf(object);
    if (object === undefined || controller === undefined) return false;
    const ours =
      controller.kind === ownerType.kind && groupOf(controller.apiVersion) === ownerType.group;
    if (ours) queue.add({ namespace: object.metadata.namespace, name: controller.name });
    return true;
  };
  host.watch(type, ({ type: change, object, previous }) => {
    addController(previous);
    if (addController(object) || change === 'DELETED') return;
    for (const owner of host.list(ownerType, object.metadata.namespace)) {
      const selector = owner.spec?.selector;
      if (host.selects(selector, object.metadata.labels)) queue.add(keyOf(owner));
    }
  });
}
