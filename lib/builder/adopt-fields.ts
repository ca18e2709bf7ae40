import { FieldSet } from '../object/field-set.js';
import type { ManagedFieldsEntry, UnstructuredObject } from '../object/kubernetes-object.js';
import { appliedEntry } from './applied-fields.js';
import type { RunContext } from './context.js';
import type { Pair } from './desired-object.js';

/**
 * Makes ours what `adoptManagers` have written by create and update: their entries in `managedFields`
 * are merged into our Apply entry, as client-go's csaupgrade does. Without it a field that we no
 * longer desire would stay for ever, for they own it too.
 * @returns the live object as it is afterwards; costs a write only where there is such an entry
 */
export async function adoptFields(
  { client, settings }: RunContext,
  { desired, live }: Pair,
): Promise<UnstructuredObject> {
  const { controllerName, adoptManagers, signal } = settings;
  const adopted = (live.metadata.managedFields ?? []).filter((entry) =>
    isAdopted(entry, adoptManagers),
  );
  if (adopted.length === 0) return live;
  const managedFields = mergedFields(live, adopted, controllerName);
  const { resourceVersion } = live.metadata;
  // As csaupgrade: what was merged must be what is there, or the patch is a conflict.
  const operations = [
    { op: 'replace', path: '/metadata/managedFields', value: managedFields },
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
  ] as const;
  const options = { fieldManager: controllerName, signal };
  const { type, ref } = desired;
  const patched = await client.patch(type, ref, { type: 'json', operations }, options);
  return patched as UnstructuredObject;
}

function isAdopted(entry: ManagedFieldsEntry, managers: readonly string[]): boolean {
  const { operation, manager = '', subresource } = entry;
  return operation === 'Update' && subresource === undefined && managers.includes(manager);
}

function mergedFields(
  live: UnstructuredObject,
  adopted: readonly ManagedFieldsEntry[],
  manager: string,
): readonly ManagedFieldsEntry[] {
  const ours = appliedEntry(live, manager);
  const merged = [...(ours === undefined ? [] : [ours]), ...adopted].reduce(
    (fields, { fieldsV1 = {} }) => fields.union(FieldSet.fromFieldsV1(fieldsV1)),
    FieldSet.empty,
  );
  const entry: ManagedFieldsEntry = {
    ...(ours ?? adopted[0]),
    ...{ manager, operation: 'Apply', fieldsV1: merged.toFieldsV1() },
  };
  const rest = (live.metadata.managedFields ?? []).filter(
    (other) => other !== ours && !adopted.includes(other),
  );
  return [...rest, entry];
}
