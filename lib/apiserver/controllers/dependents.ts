import type {
  KubernetesObject,
  ObjectKey,
  LabelSelector,
  ResourceType,
} from '../../object/index.js';
import { keyOf, controllerOf, groupOf, withControllerReference } from '../../object/index.js';
import type { ControllerHost, ObjectWriter } from './controller-host.js';
import type { WorkQueue } from './work-queue.js';

interface Selecting extends KubernetesObject {
  spec?: { selector?: LabelSelector | undefined } | undefined;
}

/** Dependents to watch, and the queue of their owners. */
interface FollowedDependents<T extends KubernetesObject, Owner extends Selecting> {
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

/**
 * Adopts and releases dependents. An owner adopts objects that match its selector and have no controller. It
 * releases objects that it controls and that no longer match. An index of the objects without a controller
 * saves reading whole namespaces.
 */
export class DependentsClaim<T extends KubernetesObject> {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #type: ResourceType<T>;
  readonly #orphans = new Map<string, Map<string, T>>();

  constructor(host: ControllerHost, writer: ObjectWriter, type: ResourceType<T>) {
    this.#host = host;
    this.#writer = writer;
    this.#type = type;
    host.watch(type, ({ type: change, object }) => {
      const { namespace = '', uid = '' } = object.metadata;
      const orphans = this.#orphans.get(namespace) ?? new Map<string, T>();
      this.#orphans.set(namespace, orphans);
      if (change === 'DELETED' || controllerOf(object) !== undefined) orphans.delete(uid);
      else orphans.set(uid, object);
    });
  }

  /**
   * Adopts and releases objects.
   * @param belongs - a condition in addition to the owner's selector
   * @returns the objects that `owner` then controls
   */
  async claim(owner: Selecting, belongs?: (object: T) => boolean): Promise<T[]> {
    const fits = (object: T): boolean =>
      this.#host.selects(owner.spec?.selector, object.metadata.labels) &&
      (belongs?.(object) ?? true);
    const deleting = owner.metadata.deletionTimestamp !== undefined;
    const claimed: T[] = [];
    for (const object of this.#host.controlled(this.#type, owner)) {
      if (fits(object)) claimed.push(object);
      else if (!deleting) await this.#release(object, owner);
    }
    if (deleting) return claimed;
    for (const object of this.#orphansFor(owner)) {
      if (fits(object)) claimed.push(await this.#adopt(object, owner));
    }
    return claimed;
  }

  #orphansFor(owner: KubernetesObject): T[] {
    const orphans = this.#orphans.get(owner.metadata.namespace ?? '');
    if (orphans === undefined) return [];
    return [...orphans.values()].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  async #adopt(object: T, owner: KubernetesObject): Promise<T> {
    const scopes = { ownerNamespaced: true, objectNamespaced: true };
    const { ownerReferences = [] } = withControllerReference(object, owner, scopes).metadata;
    return await this.#writer.updateMetadata(object, { ownerReferences });
  }

  async #release(object: T, owner: KubernetesObject): Promise<void> {
    const ownerReferences = (object.metadata.ownerReferences ?? []).filter(
      ({ uid }) => uid !== owner.metadata.uid,
    );
    await this.#writer.updateMetadata(object, { ownerReferences });
  }
}
