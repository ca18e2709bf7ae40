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
 * A set of fields of an object, as `managedFields` holds it (structured-merge-diff's `Set`). A
 * field and its children are members one by one: `spec` in the set says nothing about
 * `spec.replicas`. Immutable; operations that change nothing return the set itself.
 */
export class FieldSet {
  /** The set without fields. */
  static readonly empty = new FieldSet(leaf);

  /** The root of the tree: the wire's form. Not to be changed. */
  readonly root: FieldNode;

  private constructor(root: FieldNode) {
    this.root = root;
  }

  /** The set of these paths. The empty path (the whole object) is never a member. */
  static of(...paths: readonly FieldPath[]): FieldSet {
    return paths.reduce((set, path) => set.with(path), FieldSet.empty);
  }

  /**
   * Reads a set from anywhere.
   * @throws OperatorError `InvalidValue`: it has an element that can't be read.
   */
  static fromFieldsV1(fields: FieldsV1): FieldSet {
    return FieldSet.ofRoot(canonicalRoot(fields));
  }

  /** The set of a tree in the server's form and order; nothing is checked, so this costs nothing. */
  static ofRoot(root: FieldNode): FieldSet {
    return isLeaf(root) ? FieldSet.empty : new FieldSet(root);
  }

  /** The wire's form, elements in the server's order. Shared: not to be changed. */
  toFieldsV1(): FieldsV1 {
    return this.root;
  }

  get isEmpty(): boolean {
    return isLeaf(this.root);
  }

  /** How many fields are members. */
  get size(): number {
    return this.paths().length;
  }

  /** Whether the field at `path` is a member. */
  has(path: FieldPath): boolean {
    const node = nodeAt(this.root, path);
    return path.length > 0 && node !== undefined && isMember(node);
  }

  /** What is below `element`, as paths from there. */
  below(element: PathElement): FieldSet {
    const node = this.root[element];
    return node === undefined ? FieldSet.empty : FieldSet.ofRoot(withoutSelf(node));
  }

  /** Whether every member of `other` is one of this set. */
  covers(other: FieldSet): boolean {
    return covers(this.root, other.root);
  }

  /** Whether both have the same members. */
  equals(other: FieldSet): boolean {
    return nodesEqual(this.root, other.root);
  }

  /** This set and `path`. */
  with(path: FieldPath): FieldSet {
    return this.union(FieldSet.ofRoot(rootOfPath(path)));
  }

  /** What is in either. */
  union(other: FieldSet): FieldSet {
    return this.#result(unionOfRoots(this.root, other.root));
  }

  /** What is in both. */
  intersection(other: FieldSet): FieldSet {
    return this.#result(intersectionOfRoots(this.root, other.root));
  }

  /** What is here and not in `other`; a parent in `other` does not take its children. */
  difference(other: FieldSet): FieldSet {
    return this.#result(differenceOfRoots(this.root, other.root));
  }

  /** What is here and neither in `other` nor below a member of it. */
  recursiveDifference(other: FieldSet): FieldSet {
    return this.#result(recursiveDifferenceOfRoots(this.root, other.root));
  }

  /** The members without members below them. */
  leaves(): FieldSet {
    return this.#result(leavesOf(this.root));
  }

  /** Every member, in the server's order: first those of a level, then what is below each. */
  paths(): FieldPath[] {
    const found: FieldPath[] = [];
    collectPaths(this.root, [], found);
    return found;
  }

  /** One member a line, as the server writes paths. */
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

function nodeAt(root: FieldNode, path: FieldPath): FieldNode | undefined {
  let node: FieldNode | undefined = root;
  for (const element of path) node = node?.[element];
  return node;
}

// Not `FieldSet.ofRoot` within the private method: tsc 6.0 then replaces every mention of the class
// in its body by a variable that it sets after the class, too late for `static empty`.
function setOfRoot(root: FieldNode): FieldSet {
  return FieldSet.ofRoot(root);
}

function rootOfPath(path: FieldPath): FieldNode {
  return path.reduceRight<FieldNode>((below, element) => ({ [element]: below }), leaf);
}
