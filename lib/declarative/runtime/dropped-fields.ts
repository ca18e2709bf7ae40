import type { FieldPath } from '../../object/field-path.js';
import { FieldSet } from '../../object/field-set.js';
import { elementsOf, leaf } from '../../object/field-tree.js';
import { memberOf, withMember, withoutMember } from '../../object/json.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { AppliedPart } from './applied-differences.js';
import { withoutFields } from './without-fields.js';

/**
 * Returns `live` without those fields of `dropped` that no other manager owns, where an apply cannot remove
 * them. Such an apply would set a map or list to null: one that becomes empty and that another manager has
 * set, or that is desired empty. Depending on the schema, the API server stores that null or rejects it.
 * @returns undefined: an apply is sufficient
 */
export function withoutDroppedFields(
  live: UnstructuredObject,
  dropped: readonly FieldPath[],
  { manager, subresource }: AppliedPart,
): UnstructuredObject | undefined {
  const paths = dropped.filter(([root]) => root !== 'f:metadata');
  if (paths.length === 0) return undefined;
  const [ours, others] = ownersOf(live, { manager, subresource });
  const gone = ours.difference(ours.recursiveDifference(FieldSet.of(...paths)));
  // The parents of dropped fields are desired: otherwise the parents would be the dropped fields.
  const parents = paths.flatMap((path) => path.slice(0, -1).map((_, at) => path.slice(0, at + 1)));
  const keep = others.union(FieldSet.of(...parents));
  const emptied: string[] = [];
  let result = live;
  for (const element of elementsOf(gone.root)) {
    const name = element.slice('f:'.length);
    const value = memberOf(live, name);
    if (value === undefined) continue;
    const left = withoutFields(value, {
      remove: gone.root[element] ?? leaf,
      keep: keep.root[element],
      onEmptied: () => emptied.push(name),
    });
    result = left === undefined ? withoutMember(result, name) : withMember(result, name, left);
  }
  return emptied.length > 0 ? result : undefined;
}

function ownersOf(
  live: UnstructuredObject,
  { manager, subresource }: AppliedPart,
): readonly [ours: FieldSet, others: FieldSet] {
  let [ours, others] = [FieldSet.empty, FieldSet.empty];
  for (const entry of live.metadata.managedFields ?? []) {
    const set = FieldSet.fromFieldsV1(entry.fieldsV1 ?? {});
    const isOurs =
      entry.manager === manager &&
      entry.operation === 'Apply' &&
      (entry.subresource ?? '') === subresource;
    if (isOurs) ours = ours.union(set);
    else others = others.union(set);
  }
  return [ours, others];
}
