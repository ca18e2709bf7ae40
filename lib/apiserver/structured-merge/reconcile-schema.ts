import { FieldSet } from '../../object/field-set.js';
import { FieldNodeBuilder, elementsOf, isLeaf, isMember, leaf } from '../../object/field-tree.js';
import type { FieldNode } from '../../object/field-tree.js';
import type { PathElement } from '../../object/field-path.js';
import type { Atom, MapType } from './atom.js';

// Entries are shared from one version of an object to the next, so each is looked at once.
const reconciled = new WeakMap<FieldNode, Atom>();

/**
 * `set` as it must be read when the schema has become atomic somewhere since it was written: who
 * owned parts there owns the whole. (The other way round needs nothing.)
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

// Types that are made up from the values carry no marks that could have changed.
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
