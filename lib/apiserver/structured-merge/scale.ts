import type { FieldPath } from '../../object/field-path.js';
import { fieldPath } from '../../object/field-path.js';
import { FieldSet } from '../../object/field-set.js';
import type { ManagedFieldsEntry } from '../../object/kubernetes-object.js';
import { encodeOwners, ownersOfStored } from './managers.js';
import type { Owner } from './managers.js';

/**
 * Paths of the number of replicas, by `apiVersion`. An `undefined` path means that the version has
 * no such field. Entries of versions that are not in the map are dropped.
 */
export type ReplicasPaths = ReadonlyMap<string, FieldPath | undefined>;

const scaleVersion = 'autoscaling/v1';
const replicasInScale = FieldSet.of(fieldPath('spec', 'replicas'));

/**
 * Returns the `managedFields` of an object's Scale: the entries that own the number of replicas, as
 * owners of the Scale's `spec.replicas`.
 */
export function scaleManagedFields(
  entries: readonly ManagedFieldsEntry[] | undefined,
  paths: ReplicasPaths,
): ManagedFieldsEntry[] | undefined {
  const owners = new Map<string, Owner>();
  for (const [id, owner] of ownersOfStored(entries)) {
    const path = paths.get(owner.apiVersion);
    if (path === undefined || !owner.set.has(path)) continue;
    const set = replicasInScale;
    owners.set(id, { ...owner, apiVersion: scaleVersion, set, wire: undefined });
  }
  return encodeOwners(owners);
}

/** The scaled object, for {@link parentManagedFields}. */
export interface ScaledObject {
  /** The `managedFields` of the object before the write to its Scale. */
  readonly entries: readonly ManagedFieldsEntry[] | undefined;
  readonly paths: ReplicasPaths;
  /** The object's own API version. */
  readonly apiVersion: string;
}

/**
 * Returns the `managedFields` of an object after a write to its Scale. Managers that lost the
 * Scale's replicas lose them here; managers that gained them gain them here.
 * @param scaleEntries - `managedFields` of the written Scale.
 */
export function parentManagedFields(
  scaleEntries: readonly ManagedFieldsEntry[] | undefined,
  { entries, paths, apiVersion }: ScaledObject,
): ManagedFieldsEntry[] | undefined {
  const scalers = new Map(ownersOfStored(scaleEntries));
  const owners = new Map<string, Owner>();
  const parents = ownersOfStored(entries);
  for (const [id, owner] of parents) {
    if (!paths.has(owner.apiVersion)) continue;
    const path = paths.get(owner.apiVersion);
    const shown = path !== undefined && owner.set.has(path);
    // A Scale's Update entry is identified by the Scale's version.
    const kept = shown ? keptOwner({ id, owner, path }, scalers) : owner;
    if (kept !== undefined) owners.set(id, kept);
  }
  for (const [id, owner] of scalers) {
    const path = paths.get(apiVersion);
    if (path === undefined || !owner.set.has(fieldPath('spec', 'replicas'))) continue;
    // The real server looks up the time among the object's own entries, where it is usually
    // missing.
    const time = parents.get(id)?.time;
    owners.set(id, { ...owner, apiVersion, time, set: FieldSet.of(path), wire: undefined });
  }
  return encodeOwners(owners);
}

interface ReplicasOwner {
  readonly id: string;
  readonly owner: Owner;
  readonly path: FieldPath;
}

function keptOwner(
  { id, owner, path }: ReplicasOwner,
  scalers: Map<string, Owner>,
): Owner | undefined {
  if (scalers.delete(id)) return owner;
  const set = owner.set.difference(FieldSet.of(path));
  return set.isEmpty ? undefined : { ...owner, set, wire: undefined };
}
