import { parsePathElement } from '../../object/field-path.js';
import type { PathElement } from '../../object/field-path.js';
import { FieldSet } from '../../object/field-set.js';
import { elementsOf, isLeaf, isMember } from '../../object/field-tree.js';
import type { FieldNode } from '../../object/field-tree.js';
import { isJsonObject, memberOf, withMember, withoutMember } from '../../object/json.js';
import type { ManagedFieldsEntry, UnstructuredObject } from '../../object/kubernetes-object.js';
import { hasKeys } from '../../object/value-at-path.js';

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
    const kept = without(value, updated.root[element] ?? {}, applied.root[element]);
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

/** What of `value` is left without `theirs`; undefined: nothing. `kept`: what was applied of it. */
function without(value: unknown, theirs: FieldNode, kept: FieldNode | undefined): unknown {
  if (kept === undefined && isMember(theirs)) return undefined;
  // Both have the whole.
  if (isLeaf(theirs)) return value;
  if (Array.isArray(value)) return withoutItems(value, theirs, kept);
  if (!isJsonObject(value)) return value;
  let result = value;
  for (const element of elementsOf(theirs)) {
    const name = element.slice('f:'.length);
    const member = memberOf(value, name);
    if (member === undefined) continue;
    const left = without(member, theirs[element] ?? {}, kept?.[element]);
    if (left === undefined) result = withoutMember(result, name);
    else if (left !== member) result = withMember(result, name, left);
  }
  return isEmptied(kept, Object.keys(result).length) ? undefined : result;
}

function withoutItems(
  list: readonly unknown[],
  theirs: FieldNode,
  kept: FieldNode | undefined,
): unknown {
  let result = list;
  for (const element of elementsOf(theirs)) {
    const item = result.find((each) => isItem(each, element));
    if (item === undefined) continue;
    const left = without(item, theirs[element] ?? {}, kept?.[element]);
    if (left === item) continue;
    result = result.flatMap((each) => (each !== item ? [each] : left === undefined ? [] : [left]));
  }
  return isEmptied(kept, result.length) ? undefined : result;
}

function isEmptied(kept: FieldNode | undefined, left: number): boolean {
  return kept === undefined && left === 0;
}

function isItem(item: unknown, element: PathElement): boolean {
  const parsed = parsePathElement(element);
  if (parsed.type === 'key') return hasKeys(item, parsed.keys, true);
  return parsed.type === 'value' && parsed.value === item;
}
