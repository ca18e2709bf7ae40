import { FieldSet } from '../../object/field-set.js';
import {
  FieldNodeBuilder,
  asMember,
  elementsOf,
  isLeaf,
  isMember,
} from '../../object/field-tree.js';
import type { FieldNode } from '../../object/field-tree.js';
import type { PathElement } from '../../object/field-path.js';
import { fieldAtom, noAtom } from './atom.js';
import type { Atom } from './atom.js';

/**
 * Adds every declared field that has fields of `set` below it. A struct itself has no owner, but
 * the empty struct must disappear with its last field.
 */
export function ensureNamedFieldsAreMembers(set: FieldSet, atom: Atom): FieldSet {
  const root = withNamedFields(set.root, atom);
  return root === set.root ? set : FieldSet.ofRoot(root);
}

function withNamedFields(node: FieldNode, atom: Atom): FieldNode {
  if (isLeaf(node)) return node;
  const builder = new FieldNodeBuilder();
  let changed = false;
  for (const element of elementsOf(node)) {
    const child = node[element] as FieldNode;
    const below = withNamedFields(child, childAtom(atom, element));
    const named = !isLeaf(child) && isNamed(atom, element) ? asMember(below) : below;
    changed ||= named !== child;
    builder.add(element, named);
  }
  return changed ? (builder.buildSorted(isMember(node)) ?? node) : node;
}

function isNamed(atom: Atom, element: PathElement): boolean {
  return element.startsWith('f:') && atom.map?.fields.has(element.slice(2)) === true;
}

/** Returns the type below `element`. Set values and indexes have no known type. */
function childAtom(atom: Atom, element: PathElement): Atom {
  if (element.startsWith('f:')) {
    return atom.map === undefined ? noAtom : fieldAtom(atom.map, element.slice(2));
  }
  return element.startsWith('k:') ? (atom.list?.items.atom ?? noAtom) : noAtom;
}
