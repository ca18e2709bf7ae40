import { parsePathElement } from '../../object/field-path.js';
import type { PathElement } from '../../object/field-path.js';
import { elementsOf, isLeaf, isMember, leaf } from '../../object/field-tree.js';
import type { FieldNode } from '../../object/field-tree.js';
import { isJsonObject, memberOf, withMember, withoutMember } from '../../object/json.js';
import { hasKeys } from '../../object/value-at-path.js';

/** The fields to remove and the fields to keep. */
export interface FieldRemoval {
  readonly remove: FieldNode;
  /** undefined: keep no fields. */
  readonly keep: FieldNode | undefined;
  /** Called when a map or list becomes empty but is kept. */
  readonly onEmptied?: (() => void) | undefined;
}

/**
 * Returns `value` without the fields of `remove`, except those of `keep`. Returns `value` itself if nothing
 * is removed, and undefined if nothing is left or kept.
 */
export function withoutFields(value: unknown, removal: FieldRemoval): unknown {
  const { remove, keep } = removal;
  if (keep === undefined && isMember(remove)) return undefined;
  // Both sets contain the whole value.
  if (isLeaf(remove)) return value;
  if (Array.isArray(value)) return withoutItems(value, removal);
  return isJsonObject(value) ? withoutMembers(value, removal) : value;
}

function withoutMembers(value: Readonly<Record<string, unknown>>, removal: FieldRemoval): unknown {
  let result = value;
  for (const element of elementsOf(removal.remove)) {
    const name = element.slice('f:'.length);
    const member = memberOf(value, name);
    if (member === undefined) continue;
    const left = withoutFields(member, below(removal, element));
    if (left === undefined) result = withoutMember(result, name);
    else if (left !== member) result = withMember(result, name, left);
  }
  if (result === value || Object.keys(result).length > 0) return result;
  return emptied(result, removal);
}

function withoutItems(list: readonly unknown[], removal: FieldRemoval): unknown {
  let result = list;
  for (const element of elementsOf(removal.remove)) {
    const item = result.find((each) => isItem(each, element));
    if (item === undefined) continue;
    const left = withoutFields(item, below(removal, element));
    if (left === item) continue;
    result = result.flatMap((each) => (each !== item ? [each] : left === undefined ? [] : [left]));
  }
  return result === list || result.length > 0 ? result : emptied(result, removal);
}

function below({ remove, keep, onEmptied }: FieldRemoval, element: PathElement): FieldRemoval {
  return { remove: remove[element] ?? leaf, keep: keep?.[element], onEmptied };
}

function emptied(value: unknown, { keep, onEmptied }: FieldRemoval): unknown {
  if (keep === undefined) return undefined;
  onEmptied?.();
  return value;
}

function isItem(item: unknown, element: PathElement): boolean {
  const parsed = parsePathElement(element);
  if (parsed.type === 'key') return hasKeys(item, parsed.keys, true);
  return parsed.type === 'value' && parsed.value === item;
}
