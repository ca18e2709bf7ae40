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
 * `set` with every declared field that something of the set is below: nobody owns a struct itself,
 * but what is left of it when its last field goes must go too.
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

/** The type of what `element` leads to; nothing is known of values and indexes. */
function childAtom(atom: Atom, element: PathElement): Atom {
  if (element.startsWith('f:')) {
    return atom.map === undefined ? noAtom : fieldAtom(atom.map, element.slice(2));
  }
  return element.startsWith('k:') ? (atom.list?.items.atom ?? noAtom) : noAtom;
}
