import { FieldSet } from '../../object/field-set.js';
import { elementsOf, leaf } from '../../object/field-tree.js';
import { memberOf, withMember, withoutMember } from '../../object/json.js';
import type { ManagedFieldsEntry, UnstructuredObject } from '../../object/kubernetes-object.js';
import { withoutFields } from './without-fields.js';

/** Options of {@link withoutForeignFields}. */
export interface ForeignFieldsOptions {
  /** `''` for the fields of the object itself. */
  readonly subresource: '' | 'status';
  /** Whether the status is an ordinary field of the object. @defaultValue false */
  readonly status?: boolean;
}

/**
 * Returns `live` without the fields that were set by updates and that no manager has applied. Applied fields
 * stay, because their managers would restore them. Fields set through a subresource (replicas by an
 * autoscaler), and those that the cluster sets in a claim or a volume, stay too.
 * @returns `live` itself if there are no such fields
 */
export function withoutForeignFields(
  live: UnstructuredObject,
  { subresource, status = false }: ForeignFieldsOptions,
): UnstructuredObject {
  const entries = (live.metadata.managedFields ?? []).filter(
    (entry) => (entry.subresource ?? '') === subresource,
  );
  const applied = unionOf(entries, 'Apply');
  const updated = unionOf(entries, 'Update').recursiveDifference(clusterFields(live.kind));
  const isStatus = status || subresource === 'status';
  let result = live;
  for (const element of elementsOf(updated.root)) {
    const name = element.slice('f:'.length);
    const isPart = name === 'status' ? isStatus : subresource === '' && !notContent.has(name);
    const value = memberOf(live, name);
    if (!isPart || value === undefined) continue;
    const kept = withoutFields(value, {
      remove: updated.root[element] ?? leaf,
      keep: applied.root[element],
    });
    if (kept === value) continue;
    result = kept === undefined ? withoutMember(result, name) : withMember(result, name, kept);
  }
  return result;
}

const notContent = new Set(['apiVersion', 'kind', 'metadata']);

function unionOf(
  entries: readonly ManagedFieldsEntry[],
  operation: ManagedFieldsEntry['operation'],
): FieldSet {
  return entries
    .filter((entry) => entry.operation === operation)
    .map(({ fieldsV1 = {} }) => FieldSet.fromFieldsV1(fieldsV1))
    .reduce((all, set) => all.union(set), FieldSet.empty);
}

// The cluster sets these fields by an update of the whole object when it binds a claim to a volume.
const boundFields: Readonly<Partial<Record<string, FieldSet>>> = {
  PersistentVolumeClaim: FieldSet.of(['f:spec', 'f:volumeName']),
  PersistentVolume: FieldSet.of(['f:spec', 'f:claimRef']),
};

function clusterFields(kind: string): FieldSet {
  return boundFields[kind] ?? FieldSet.empty;
}
