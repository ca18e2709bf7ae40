import type {
  ManagedFieldsEntry,
  ObjectMeta,
  UnstructuredObject,
} from '../../object/kubernetes-object.js';
import { deepEqual } from '../../object/deep-equal.js';

// Metadata that clients send, and that of a zero value, may break the type.
interface Metadata extends Omit<ObjectMeta, 'managedFields'> {
  managedFields?: ManagedFieldsEntry[] | null;
}

/** Returns the metadata of an object. The body of an apply and a zero value may lack it. */
export function metadataOf(object: UnstructuredObject): Metadata {
  return (object as { metadata?: Metadata | null }).metadata ?? {};
}

/** Returns `object` without its `managedFields`, or the object itself if it has none. */
export function withoutManagedFields(object: UnstructuredObject): UnstructuredObject {
  const { managedFields, ...metadata } = metadataOf(object);
  return managedFields === undefined ? object : { ...object, metadata };
}

/** Returns `object` with `managedFields`. `object` must not have any. */
export function withManagedFields(
  object: UnstructuredObject,
  managedFields: ManagedFieldsEntry[] | undefined,
): UnstructuredObject {
  if (managedFields === undefined) return object;
  return { ...object, metadata: { ...metadataOf(object), managedFields } };
}

/**
 * Returns `next` with the `managedFields` of `live` if the two objects differ only in the times of
 * these entries, else `next` itself. A write without changes must not bump the `resourceVersion`.
 * Set the `resourceVersion` of `next` to that of `live` first. Call this function immediately
 * before the write.
 */
export function keepManagedFieldsTimes(
  live: UnstructuredObject,
  next: UnstructuredObject,
): UnstructuredObject {
  const [old, now] = [metadataOf(live).managedFields, metadataOf(next).managedFields];
  if (!old || !now || old === now) return next;
  if (!sameButForTimes(old, now)) return next;
  if (old.every((entry, at) => entry.time === now[at]?.time)) return next;
  const bare = withoutManagedFields(next);
  return deepEqual(withoutManagedFields(live), bare) ? withManagedFields(bare, old) : next;
}

function sameButForTimes(old: readonly ManagedFieldsEntry[], now: readonly ManagedFieldsEntry[]) {
  if (old.length !== now.length) return false;
  return old.every((entry, at) =>
    deepEqual({ ...entry, time: undefined }, { ...now[at], time: undefined }),
  );
}
