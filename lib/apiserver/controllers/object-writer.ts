import { isConflict, isNotFound } from '../../object/api-error.js';
import type {
  KubernetesObject,
  ObjectMeta,
  UnstructuredObject,
} from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import type { ResourceType } from '../../object/resource-type.js';
import type { Loopback, LoopbackDeleteOptions } from '../loopback.js';
import { deepEqual } from '../../object/deep-equal.js';

/** A kind with a status. */
export interface WithStatus extends KubernetesObject {
  status?: unknown;
}

/** Writes objects with one field manager. Throws the errors of the loopback. */
export class ObjectWriter {
  readonly #loopback: Loopback;
  readonly #manager: string;

  constructor(loopback: Loopback, manager: string) {
    this.#loopback = loopback;
    this.#manager = manager;
  }

  async create<T extends KubernetesObject>(object: T, subresource?: string): Promise<T> {
    const options = { manager: this.#manager, subresource };
    return (await this.#loopback.create(plain(object), options)) as KubernetesObject as T;
  }

  /**
   * Replaces an object that was read before. The write fails with a conflict if the object has changed since.
   */
  async update<T extends KubernetesObject>(object: T, subresource?: string): Promise<T> {
    const options = { manager: this.#manager, subresource };
    return (await this.#loopback.update(plain(object), options)) as KubernetesObject as T;
  }

  /** Replaces metadata fields of an object that was read before. */
  async updateMetadata<T extends KubernetesObject>(object: T, fields: ObjectMeta): Promise<T> {
    return await this.update({ ...object, metadata: { ...object.metadata, ...fields } });
  }

  /** Writes `status` if it differs from the object's. @returns the object after the write */
  async updateStatus<T extends WithStatus>(object: T, status: T['status']): Promise<T> {
    if (deepEqual(object.status, status)) return object;
    return await this.update({ ...object, status }, 'status');
  }

  /** Deletes the object with this uid. An object that is already gone is not an error. */
  async delete<T extends KubernetesObject>(
    type: ResourceType<T>,
    object: T,
    options: Omit<LoopbackDeleteOptions, 'preconditions'> = {},
  ): Promise<void> {
    const { uid = '' } = object.metadata;
    try {
      const settings = { ...options, preconditions: { uid } };
      await this.#loopback.delete(type as unknown as ResourceType, keyOf(object), settings);
    } catch (error) {
      // Conflict: another object has this name, so the given one is gone.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
}

function plain(object: KubernetesObject): UnstructuredObject {
  return object as unknown as UnstructuredObject;
}
