import isEqual from 'lodash/isEqual.js';
import type { FieldChange } from '../object/diff-by-path.js';
import { fieldElement, fieldPath, indexElement, pathToString } from '../object/field-path.js';
import type { FieldPath } from '../object/field-path.js';
import { isJsonObject, memberOf } from '../object/json.js';
import { appliedFields, fieldManagersOf } from '../object/managed-fields.js';
import { valueAtPath } from '../object/value-at-path.js';
import type { Pair } from './desired-object.js';

/**
 * What `manager` has applied to `live`, alone has, and does not desire any more, so that the next
 * apply takes it away. A field that is not there at all is one change, whatever was in it.
 */
export function droppedFields({ desired, live }: Pair, manager: string): readonly FieldChange[] {
  const applied = appliedFields(live, manager);
  const leaves = applied?.leaves().paths() ?? [];
  const dropped = leaves.flatMap((leaf) => droppedAt(desired.object, live, leaf));
  const ours = dropped.filter((path) => {
    const there = valueAtPath(live, path) !== undefined;
    return there && fieldManagersOf(live, path).every(({ name }) => name === manager);
  });
  const changes = ours.map((path) => [pathToString(path), valueAtPath(live, path)] as const);
  return [...new Map(changes)].map(([path, from]) => ({ path, from, to: undefined }));
}

function droppedAt(desired: object, live: object, leaf: FieldPath): readonly FieldPath[] {
  const end = leaf.findIndex((_, at) => valueAtPath(desired, leaf.slice(0, at + 1)) === undefined);
  if (end >= 0) return [leaf.slice(0, end + 1)];
  const known = wholes.some((path) => isEqual(path, leaf));
  return known ? membersDropped(valueAtPath(desired, leaf), valueAtPath(live, leaf), leaf) : [];
}

// What apply replaces as a whole, and has no members in `managedFields`. Only these: of others (the
// `fieldRef` of a variable) it can't be told what the server has filled in.
const wholes = [fieldPath('spec', 'selector'), fieldPath('spec', 'volumeClaimTemplates')];

function membersDropped(desired: unknown, live: unknown, path: FieldPath): readonly FieldPath[] {
  if (Array.isArray(desired) && Array.isArray(live)) {
    return desired.flatMap((item: unknown, index) =>
      membersDropped(item, live[index], [...path, indexElement(index)]),
    );
  }
  if (!isJsonObject(desired) || !isJsonObject(live)) return [];
  return Object.keys(live).flatMap((name) => {
    const below = [...path, fieldElement(name)];
    const value = memberOf(desired, name);
    if (value !== undefined) return membersDropped(value, memberOf(live, name), below);
    return filledIn.test(pathToString(below)) ? [] : [below];
  });
}

// What the server adds to a template of claims.
const filledIn =
  /^spec\.volumeClaimTemplates\[\d+\]\.(apiVersion|kind|status|metadata\.creationTimestamp|spec\.volumeMode)$/;
