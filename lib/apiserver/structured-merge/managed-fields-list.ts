import type {
  ManagedFieldsEntry,
  ObjectMeta,
  UnstructuredObject,
} from '../../object/kubernetes-object.js';
import { deepEqual } from '../../object/deep-equal.js';

// What clients send and what a zero value has need not be what the type says.
interface Metadata extends Omit<ObjectMeta, 'managedFields'> {
  managedFields?: ManagedFieldsEntry[] | null;
}

/** The metadata of an object that may be without, as an apply or a zero value may. */
export function metadataOf(object: UnstructuredObject): Metadata {
  return (object as { metadata?: Metadata | null }).metadata ?? {};
}

/** `object` without its `managedFields`; the object itself where it has none. */
export function withoutManagedFields(object: UnstructuredObject): UnstructuredObject {
  const { managedFields, ...metadata } = metadataOf(object);
  return managedFields === undefined ? object : { ...object, metadata };
}

/** `object`, which has none, with `managedFields`. */
export function withManagedFields(
  object: UnstructuredObject,
  managedFields: ManagedFieldsEntry[] | undefined,
): UnstructuredObject {
  if (managedFields === undefined) return object;
  return { ...object, metadata: { ...metadataOf(object), managedFields } };
}

/**
 * `next`, or, where it differs from `live` only by the times in its `managedFields`, `next` with
 * the times of `live`: a write that changes nothing must not bump the `resourceVersion`. The
 * `resourceVersion` must have been set to the live one. Call it right before the write.
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
