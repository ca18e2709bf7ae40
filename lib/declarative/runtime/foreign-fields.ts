import { FieldSet } from '../../object/field-set.js';
import { elementsOf, leaf } from '../../object/field-tree.js';
import { memberOf, withMember, withoutMember } from '../../object/json.js';
import type { ManagedFieldsEntry, UnstructuredObject } from '../../object/kubernetes-object.js';
import { withoutFields } from './without-fields.js';

/** Options of {@link withoutForeignFields}. */
export interface ForeignFieldsOptions {
  /** `''`: what was put into the object itself. */
  readonly subresource: '' | 'status';
  /** Whether the status is a part of the object like any other. @defaultValue false */
  readonly status?: boolean;
}

/**
 * `live` without what was put into it by hand: by updates, beside what anybody has applied. What others
 * apply stays, for they would only put it back; and so does what came through a subresource (replicas by
 * an autoscaler), and what the cluster itself puts into a claim or a volume.
 * @returns `live` itself where there is nothing of the kind
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

// Written by an update of the whole object, once a claim and a volume have found each other.
const boundFields: Readonly<Partial<Record<string, FieldSet>>> = {
  PersistentVolumeClaim: FieldSet.of(['f:spec', 'f:volumeName']),
  PersistentVolume: FieldSet.of(['f:spec', 'f:claimRef']),
};

function clusterFields(kind: string): FieldSet {
  return boundFields[kind] ?? FieldSet.empty;
}
