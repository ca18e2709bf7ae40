import { isNotFound } from '../object/api-error.js';
import { describeObject } from '../object/describe-object.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { keyOf } from '../object/object-key.js';
import type { TypeReference } from '../object/resource-type.js';
import { OperatorError } from '../system/operator-error.js';
import { writeOptionNames } from './call-options.js';
import type { Client, WriteOptions } from './client.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import type { OptionNames } from '../system/known-options.js';

/** Options of {@link addFinalizer} and {@link removeFinalizer}. */
export interface FinalizerOptions extends WriteOptions {
  /** A qualified name, for example `example.com/cleanup`. */
  readonly finalizer: string;
}

const finalizerOptionNames: OptionNames<FinalizerOptions> = {
  ...writeOptionNames,
  finalizer: true,
};

/**
 * Adds a finalizer, so that the object outlives its deletion until the finalizer is removed. Makes no call if
 * the object already has it.
 * @param object - as read from the server: its `resourceVersion` guards the write.
 * @returns the current object.
 * @throws ApiError 409 (`isConflict`): the object has changed since; read it again.
 * @throws ApiError 422: the object is being deleted and accepts no new finalizers.
 * @throws OperatorError `InvalidObject`: `object` has no resourceVersion.
 */
export async function addFinalizer<T extends KubernetesObject>(
  client: Client,
  object: T,
  all: FinalizerOptions,
): Promise<T> {
  refuseUnknownOptions('addFinalizer', all, finalizerOptionNames);
  const { finalizer, ...options } = all;
  const finalizers = object.metadata.finalizers ?? [];
  if (finalizers.includes(finalizer)) return object;
  return setFinalizers(client, object, { ...options, finalizers: [...finalizers, finalizer] });
}

/**
 * Removes a finalizer. The server then deletes the object if it is being deleted and has no other finalizer.
 * Makes no call if the object does not have it.
 * @param object - as read from the server: its `resourceVersion` guards the write.
 * @returns the object in its current or last state; undefined if it was already gone.
 * @throws ApiError 409 (`isConflict`): the object has changed since; read it again.
 * @throws OperatorError `InvalidObject`: `object` has no resourceVersion.
 */
export async function removeFinalizer<T extends KubernetesObject>(
  client: Client,
  object: T,
  all: FinalizerOptions,
): Promise<T | undefined> {
  refuseUnknownOptions('removeFinalizer', all, finalizerOptionNames);
  const { finalizer, ...options } = all;
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(finalizer)) return object;
  const others = finalizers.filter((name) => name !== finalizer);
  try {
    return await setFinalizers(client, object, { ...options, finalizers: others });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

// A merge patch replaces the whole list: without the version it would drop finalizers added by others.
async function setFinalizers<T extends KubernetesObject>(
  client: Client,
  object: T,
  { finalizers, ...options }: WriteOptions & { readonly finalizers: readonly string[] },
): Promise<T> {
  const { uid, resourceVersion } = object.metadata;
  if (resourceVersion === undefined) {
    const message = `${describeObject(object)} has no resourceVersion: read it from the server`;
    throw new OperatorError('InvalidObject', message);
  }
  const { apiVersion, kind } = object;
  const type: TypeReference<KubernetesObject> = { apiVersion, kind };
  const body = { metadata: { uid, resourceVersion, finalizers } };
  const patch = { type: 'merge', body } as const;
  const patched: unknown = await client.patch(type, keyOf(object), patch, options);
  return patched as T;
}
