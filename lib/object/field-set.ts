import {
  canonicalRoot,
  covers,
  differenceOfRoots,
  elementsOf,
  intersectionOfRoots,
  isLeaf,
  isMember,
  leaf,
  leavesOf,
  nodeAt,
  nodesEqual,
  recursiveDifferenceOfRoots,
  unionOfRoots,
  withoutSelf,
} from './field-tree.js';
import type { FieldNode } from './field-tree.js';
import { pathToServerString } from './field-path.js';
import type { FieldPath, PathElement } from './field-path.js';
import type { FieldsV1 } from './kubernetes-object.js';

/**
 * A set of fields of an object, as in `managedFields` (structured-merge-diff's `Set`). A field and its
 * children are separate members: `spec` in the set does not imply `spec.replicas`. Immutable; operations that
 * change nothing return the set itself.
 */
export class FieldSet {
  static readonly empty = new FieldSet(leaf);

  /** The root of the tree, in the wire format. Callers must not change it. */
  readonly root: FieldNode;

  private constructor(root: FieldNode) {
    this.root = root;
  }

  /** Creates the set of these paths. The empty path (the whole object) is never a member. */
  static of(...paths: readonly FieldPath[]): FieldSet {
    return paths.reduce((set, path) => set.with(path), FieldSet.empty);
  }

  /**
   * Parses a set from any writer.
   * @throws OperatorError `InvalidValue`: it has an invalid element.
   */
  static fromFieldsV1(fields: FieldsV1): FieldSet {
    return FieldSet.ofRoot(canonicalRoot(fields));
  }

  /**
   * Creates the set of a tree that is already in the server's form and order. Checks nothing, so the call is
   * free.
   */
  static ofRoot(root: FieldNode): FieldSet {
    return isLeaf(root) ? FieldSet.empty : new FieldSet(root);
  }

  /** Returns the wire format, with elements in the server's order. Shared: callers must not change it. */
  toFieldsV1(): FieldsV1 {
    return this.root;
  }

  get isEmpty(): boolean {
    return isLeaf(this.root);
  }

  /** Whether the field at `path` is a member. */
  has(path: FieldPath): boolean {
    const node = nodeAt(this.root, path);
    return path.length > 0 && node !== undefined && isMember(node);
  }

  /** Returns the members below `element`, as paths relative to it. */
  below(element: PathElement): FieldSet {
    const node = this.root[element];
    return node === undefined ? FieldSet.empty : FieldSet.ofRoot(withoutSelf(node));
  }

  /** Whether this set has every member of `other`. */
  covers(other: FieldSet): boolean {
    return covers(this.root, other.root);
  }

  /** Whether both sets have the same members. */
  equals(other: FieldSet): boolean {
    return nodesEqual(this.root, other.root);
  }

  with(path: FieldPath): FieldSet {
    return this.union(FieldSet.ofRoot(rootOfPath(path)));
  }

  /** Returns the members of either set. */
  union(other: FieldSet): FieldSet {
    return this.#result(unionOfRoots(this.root, other.root));
  }

  /** Returns the members of both sets. */
  intersection(other: FieldSet): FieldSet {
    return this.#result(intersectionOfRoots(this.root, other.root));
  }

  /** Returns the members that are not in `other`; a parent in `other` does not remove its children. */
  difference(other: FieldSet): FieldSet {
    return this.#result(differenceOfRoots(this.root, other.root));
  }

  /** Returns the members that are neither in `other` nor below a member of it. */
  recursiveDifference(other: FieldSet): FieldSet {
    return this.#result(recursiveDifferenceOfRoots(this.root, other.root));
  }

  /** Returns the members that have no members below them. */
  leaves(): FieldSet {
    return this.#result(leavesOf(this.root));
  }

  /**
   * Returns every member in the server's order: first the members of a level, then the members below each of them.
   */
  paths(): FieldPath[] {
    const found: FieldPath[] = [];
    collectPaths(this.root, [], found);
    return found;
  }

  /** Formats one member per line, in the server's path format. */
  toString(): string {
    return this.paths().map(pathToServerString).join('\n');
  }

  #result(root: FieldNode): FieldSet {
    return root === this.root ? this : setOfRoot(root);
  }
}

function collectPaths(node: FieldNode, prefix: FieldPath, found: FieldPath[]): void {
  const elements = elementsOf(node);
  for (const element of elements) {
    if (isMember(node[element] ?? leaf)) found.push([...prefix, element]);
  }
  for (const element of elements) {
    const child = node[element];
    if (child !== undefined && !isLeaf(child)) collectPaths(child, [...prefix, element], found);
  }
}

// `#result` calls this function instead of `FieldSet.ofRoot`: in a private method, tsc 6.0 replaces the name of the
// class by a variable that is set after the class, too late for `static empty`.
function setOfRoot(root: FieldNode): FieldSet {
  return FieldSet.ofRoot(root);
}

function rootOfPath(path: FieldPath): FieldNode {
  return path.reduceRight<FieldNode>((below, element) => ({ [element]: below }), leaf);
}
