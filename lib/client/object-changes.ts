import {
  isApiError,
  isConflict,
  isFoundInvalid,
  isNotFound,
  deepEqual,
  describeObject,
  createMergePatch,
  keyOf,
  sameKey,
  withControllerReference,
} from '../object/index.js';
import type { KubernetesObject, ObjectKey, TypeReference } from '../object/index.js';
import {
  delayAfter,
  spread,
  systemRandom,
  sleep,
  systemClock,
  refuseUnknownOptions,
  OperatorError,
} from '../system/index.js';
import type { Clock, OptionNames, Random } from '../system/index.js';
import { writeOptionNames } from './call.js';
import type { CallOptions, Client, GetOptions, WriteOptions } from './client.js';

/** Options of {@link createOrUpdate} and {@link createOrPatch}. */
export interface CreateOrUpdateOptions<T> extends WriteOptions {
  /**
   * Returns the desired object. Receives a copy of the live object, or of the given object if no live object
   * exists. May change and return the copy.
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
 * Creates an object, or updates it if the live one differs from the desired one. Use it for changes that a server-side
 * apply cannot express; `Client.apply` needs neither the read nor the comparison.
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
  const message = `${describeObject(object)}: mutate changed it to ${describeObject(mutated)}`;
  throw new OperatorError(
    'InvalidObject',
    `${message} (mutate must not change the kind, the namespace or the name)`,
  );
}

function typeOf<T extends KubernetesObject>({ apiVersion, kind }: T): TypeReference<T> {
  return { apiVersion, kind };
}

/**
 * Reads one object that may not exist: the object of a reconcile may have been deleted.
 *
 * @example
 * ```ts
 * const owner = await getIfExists(client, Tenant, key);
 * if (owner === undefined) return done(); // Garbage collection deletes its dependents.
 * ```
 * @returns undefined if the object does not exist.
 * @throws the errors of `Client.get`, except 404.
 */
export async function getIfExists<T extends KubernetesObject>(
  client: Client,
  type: TypeReference<T>,
  key: ObjectKey,
  options?: GetOptions,
): Promise<T | undefined> {
  try {
    return await client.get(type, key, options);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Options of {@link retryOnConflict}. */
export interface RetryOnConflictOptions extends CallOptions {
  /** The maximum number of attempts, at least 1. @defaultValue 5 */
  readonly maxAttempts?: number | undefined;
  /** The delay before the second attempt, in milliseconds; it doubles. @defaultValue 10 */
  readonly delayMs?: number | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** Spreads the delays. @defaultValue the system's random source */
  readonly random?: Random | undefined;
}

/**
 * Repeats `work` while it fails because an object changed since it was read. So `work` must read the object
 * itself, live and not from a cache, which may still have the old version.
 * @throws the errors of `work`; conflicts only after the last attempt.
 */
export async function retryOnConflict<T>(
  work: () => Promise<T>,
  options: RetryOnConflictOptions = {},
): Promise<T> {
  const { maxAttempts = 5, delayMs = 10, signal } = options;
  const { clock = systemClock, random = systemRandom } = options;
  const names = { maxAttempts, delayMs, signal, clock, random };
  refuseUnknownOptions<RetryOnConflictOptions>('retryOnConflict', options, names);
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isStaleWrite(error) || attempt >= maxAttempts) throw error;
      const backoffMs = delayAfter(attempt, { baseMs: delayMs, maxMs: Infinity });
      await sleep(clock, spread(backoffMs, random, 1, 1.1), signal);
    }
  }
}

/**
 * Whether a write failed because the object has changed since it was read. The server then answers 409, or
 * 422 on the uid of a replaced object. For a failed `test` of a JSON patch it answers 422 without causes.
 */
export function isStaleWrite(error: unknown): boolean {
  if (isConflict(error)) return true;
  if (!isApiError(error) || !isFoundInvalid(error)) return false;
  if (error.causes.some(({ field }) => field === 'metadata.uid')) return true;
  return error.context.verb === 'patch' && error.causes.length === 0;
}

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
  const body = { metadata: { uid, resourceVersion, finalizers } };
  return client.patch(typeOf(object), keyOf(object), { type: 'merge', body }, options);
}

/**
 * Returns a copy of `object` with `owner` as its controller; the client finds out whether the kinds of both are
 * namespaced. Writes nothing.
 * @throws OperatorError `AlreadyOwned`: it has another controller.
 * @throws OperatorError `InvalidOwner`: the owner is in another namespace, is a namespaced owner of a cluster-scoped
 * object, or is not live.
 */
export async function setControllerReference<T extends KubernetesObject>(
  client: Client,
  object: T,
  owner: KubernetesObject,
): Promise<T> {
  const { namespaced: objectNamespaced } = await client.resourceType(typeOf(object));
  const { namespaced: ownerNamespaced } = await client.resourceType(typeOf(owner));
  return withControllerReference(object, owner, { objectNamespaced, ownerNamespaced });
}
