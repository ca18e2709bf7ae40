import { deepEqual } from '../object/deep-equal.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { createMergePatch } from '../object/merge-patch.js';
import { keyOf, sameKey } from '../object/object-key.js';
import { describeObject } from '../object/describe-object.js';
import type { TypeReference } from '../object/resource-type.js';
import { OperatorError } from '../system/operator-error.js';
import { writeOptionNames } from './call-options.js';
import type { Client, WriteOptions } from './client.js';
import { getIfExists } from './get-if-exists.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import type { OptionNames } from '../system/known-options.js';

/** Options of {@link createOrUpdate} and {@link createOrPatch}. */
export interface CreateOrUpdateOptions<T> extends WriteOptions {
  /**
   * Returns the desired object. Receives a copy of the live object, or of the given one if it does not exist;
   * may change and return the copy.
   */
  readonly mutate: (object: T) => T;
}

/** The result of {@link createOrUpdate}. */
export interface CreateOrUpdateResult<T> {
  /** The current object. */
  readonly object: T;
  readonly operation: 'created' | 'updated' | 'unchanged';
}

/**
 * Creates an object, or updates it if the live one differs from the desired one. For changes that apply
 * cannot express; `Client.apply` needs neither the read nor the comparison.
 * @param object - the object to create. If it exists, only its apiVersion, kind, name and namespace are used.
 * @throws ApiError 409: `isConflict`, the object changed between read and write; `isAlreadyExists`, another
 * client created it meanwhile. Read it again.
 * @throws OperatorError `InvalidObject`: `mutate` changed the name, namespace or kind.
 */
export function createOrUpdate<T extends KubernetesObject>(
  client: Client,
  object: T,
  options: CreateOrUpdateOptions<T>,
): Promise<CreateOrUpdateResult<T>> {
  refuseUnknownOptions('createOrUpdate', options, optionNames);
  const update: Write<T> = (change, writeOptions) => client.update(change.wanted, writeOptions);
  return createOrWrite(client, object, { ...options, write: update });
}

/**
 * Like {@link createOrUpdate}, but sends only the difference, as a merge patch. The patch carries the live
 * object's resourceVersion: a merge patch replaces lists whole and would drop items added by others.
 * @throws the same errors as {@link createOrUpdate}.
 */
export function createOrPatch<T extends KubernetesObject>(
  client: Client,
  object: T,
  options: CreateOrUpdateOptions<T>,
): Promise<CreateOrUpdateResult<T>> {
  refuseUnknownOptions('createOrPatch', options, optionNames);
  const patch: Write<T> = ({ live, wanted }, writeOptions) => {
    const difference = createMergePatch(live, wanted);
    const { resourceVersion } = live.metadata;
    const metadata = { ...(difference['metadata'] as object | undefined), resourceVersion };
    const body = { ...difference, metadata };
    return client.patch(typeOf(live), keyOf(live), { type: 'merge', body }, writeOptions);
  };
  return createOrWrite(client, object, { ...options, write: patch });
}

const optionNames: OptionNames<CreateOrUpdateOptions<unknown>> = {
  ...writeOptionNames,
  mutate: true,
};

type Write<T> = (
  change: { readonly live: T; readonly wanted: T },
  options: WriteOptions,
) => Promise<T>;

async function createOrWrite<T extends KubernetesObject>(
  client: Client,
  object: T,
  { mutate, write, ...options }: CreateOrUpdateOptions<T> & { readonly write: Write<T> },
): Promise<CreateOrUpdateResult<T>> {
  const { signal } = options;
  const live = await getIfExists(client, typeOf(object), keyOf(object), { signal });
  const wanted = mutateCopy(live ?? object, mutate);
  if (live === undefined) {
    return { object: await client.create(wanted, options), operation: 'created' };
  }
  if (deepEqual(live, wanted)) return { object: live, operation: 'unchanged' };
  return { object: await write({ live, wanted }, options), operation: 'updated' };
}

function mutateCopy<T extends KubernetesObject>(object: T, mutate: (object: T) => T): T {
  // A copy, because objects from a cache are frozen.
  const mutated = mutate(structuredClone(object));
  if (mutated.kind === object.kind && sameKey(keyOf(mutated), keyOf(object))) return mutated;
  const message = `${describeObject(object)}: mutate made it ${describeObject(mutated)}`;
  throw new OperatorError('InvalidObject', `${message} (names and kinds do not change)`);
}

function typeOf<T extends KubernetesObject>({ apiVersion, kind }: T): TypeReference<T> {
  return { apiVersion, kind };
}
