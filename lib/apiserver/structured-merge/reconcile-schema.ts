import { FieldSet } from '../../object/field-set.js';
import { FieldNodeBuilder, elementsOf, isLeaf, isMember, leaf } from '../../object/field-tree.js';
import type { FieldNode } from '../../object/field-tree.js';
import type { PathElement } from '../../object/field-path.js';
import type { Atom, MapType } from './atom.js';

// Versions of an object share entries, so each entry is checked once.
const reconciled = new WeakMap<FieldNode, Atom>();

/**
 * Adapts `set` to a schema that has become atomic somewhere since `set` was written: the owner of a
 * part becomes the owner of the whole. A schema that has become granular needs no change.
 */
export function reconcileWithSchema(set: FieldSet, atom: Atom): FieldSet {
  const { root } = set;
  if (set.isEmpty || reconciled.get(root) === atom) return set;
  const node = reconcile(root, atom);
  reconciled.set(node, atom);
  return node === root ? set : FieldSet.ofRoot(node);
}

function reconcile(node: FieldNode, atom: Atom): FieldNode {
  if (isLeaf(node)) return node;
  const { map, list } = atom;
  if (map !== undefined) return reconcileMap(node, map);
  if (atom.scalar !== undefined || list === undefined) return node;
  return list.atomic ? leaf : reconcileChildren(node, () => list.items.atom);
}

function reconcileMap(node: FieldNode, map: MapType): FieldNode {
  if (isDeduced(map)) return node;
  if (map.atomic) return leaf;
  return reconcileChildren(node, (element) => {
    const named = element.startsWith('f:') ? map.fields.get(element.slice(2)) : undefined;
    return (named ?? map.others)?.atom;
  });
}

// Types deduced from values have no list or map markers that could have changed.
function isDeduced(map: MapType): boolean {
  return map.fields.size === 0 && map.others?.atom.scalar === 'untyped';
}

function reconcileChildren(
  node: FieldNode,
  typeOf: (element: PathElement) => Atom | undefined,
): FieldNode {
  const builder = new FieldNodeBuilder();
  let changed = false;
  for (const element of elementsOf(node)) {
    const child = node[element] as FieldNode;
    const type = isLeaf(child) ? undefined : typeOf(element);
    const now = type === undefined ? child : reconcile(child, type);
    changed ||= now !== child;
    builder.add(element, now);
  }
  return changed ? (builder.buildSorted(isMember(node)) ?? node) : node;
}
