import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { LabelSelector } from '../../object/label-selector.js';
import { controllerOf, ownerReferenceTo } from '../../object/owner-reference.js';
import type { ResourceType } from '../../object/resource-type.js';
import type { ControllerHost } from './controller-host.js';
import type { ObjectWriter } from './object-writer.js';

/** Rule by which {@link DependentsClaim} selects the dependents of an owner. */
export interface ClaimRule<T extends KubernetesObject> {
  readonly type: ResourceType<T>;
  readonly owner: KubernetesObject;
  readonly selector: LabelSelector | undefined;
  /** A condition in addition to the selector. */
  readonly belongs?: ((object: T) => boolean) | undefined;
}

/**
 * Adopts and releases dependents. An owner adopts objects that match its selector and have no controller. It
 * releases objects that it controls and that no longer match. An index of the objects without a controller
 * saves reading whole namespaces.
 */
export class DependentsClaim<T extends KubernetesObject> {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #orphans = new Map<string, Map<string, T>>();

  constructor(host: ControllerHost, writer: ObjectWriter, type: ResourceType<T>) {
    this.#host = host;
    this.#writer = writer;
    host.watch(type, ({ type: change, object }) => {
      const { namespace = '', uid = '' } = object.metadata;
      const orphans = this.#orphans.get(namespace) ?? new Map<string, T>();
      this.#orphans.set(namespace, orphans);
      if (change === 'DELETED' || controllerOf(object) !== undefined) orphans.delete(uid);
      else orphans.set(uid, object);
    });
  }

  /** Adopts and releases objects. @returns the objects that `owner` then controls */
  async claim(rule: ClaimRule<T>): Promise<T[]> {
    const fits = (object: T): boolean =>
      this.#host.selects(rule.selector, object.metadata.labels) && (rule.belongs?.(object) ?? true);
    const deleting = rule.owner.metadata.deletionTimestamp !== undefined;
    const claimed: T[] = [];
    for (const object of this.#host.controlled(rule.type, rule.owner)) {
      if (fits(object)) claimed.push(object);
      else if (!deleting) await this.#release(object, rule.owner);
    }
    if (deleting) return claimed;
    for (const object of this.#orphansFor(rule.owner)) {
      if (fits(object)) claimed.push(await this.#adopt(object, rule.owner));
    }
    return claimed;
  }

  #orphansFor(owner: KubernetesObject): T[] {
    const orphans = this.#orphans.get(owner.metadata.namespace ?? '');
    if (orphans === undefined) return [];
    return [...orphans.values()].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  async #adopt(object: T, owner: KubernetesObject): Promise<T> {
    const reference = ownerReferenceTo(owner, { controller: true, blockOwnerDeletion: true });
    const others = (object.metadata.ownerReferences ?? []).filter(
      ({ uid }) => uid !== reference.uid,
    );
    const ownerReferences = [...others, reference];
    return await this.#writer.updateMetadata(object, { ownerReferences });
  }

  async #release(object: T, owner: KubernetesObject): Promise<void> {
    const ownerReferences = (object.metadata.ownerReferences ?? []).filter(
      ({ uid }) => uid !== owner.metadata.uid,
    );
    await this.#writer.updateMetadata(object, { ownerReferences });
  }
}
