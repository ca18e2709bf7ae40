import { OperatorError } from '../system/index.js';
import { canonicalElement, comparePathElements, isPlainElement } from './field-path.js';
import type { PathElement } from './field-path.js';
import type { FieldsV1 } from './kubernetes-object.js';

/**
 * A node of a field set, in the wire format itself, so that reading and writing `managedFields` costs
 * nothing:
 *
 * - `{}`: the field is in the set, and nothing below the field is;
 * - `{".": {}, "f:a": {}}`: the field is in the set, and so is its member `a`;
 * - `{"f:a": {}}`: only the member `a` of the field is in the set.
 *
 * Nodes are immutable and shared. `.` comes first, then the elements in the order of `comparePathElements`. A
 * root is not a field: there, `{}` is the empty set.
 */
export type FieldNode = FieldsV1;

/** A field with nothing below it. */
export const leaf: FieldNode = Object.freeze({});

const self = '.';

/** Whether `node` has nothing below it. */
export function isLeaf(node: FieldNode): boolean {
  // A `for...in` loop is the fastest check; nodes have no prototype members.
  for (const _ in node) return false;
  return true;
}

/** Whether the field of `node` itself is in the set; not for roots. */
export function isMember(node: FieldNode): boolean {
  return node[self] !== undefined || isLeaf(node);
}

/** Returns `node` with its own field in the set. */
export function asMember(node: FieldNode): FieldNode {
  return isMember(node) ? node : { [self]: leaf, ...node };
}

/** Returns the elements below `node`, in order. */
export function elementsOf(node: FieldNode): PathElement[] {
  const keys = Object.keys(node);
  return keys[0] === self ? keys.slice(1) : keys;
}

/** Returns the node at `path` below `root`; undefined if the set has nothing there. */
export function nodeAt(root: FieldNode, path: readonly PathElement[]): FieldNode | undefined {
  let node: FieldNode | undefined = root;
  for (const element of path) node = node?.[element];
  return node;
}

/** Collects the children of a node; elements may come in any order, each once. */
export class FieldNodeBuilder {
  readonly #node: FieldsV1;
  #isEmpty = true;

  /** @param member - whether the field of the node itself is in the set */
  constructor(member: boolean) {
    this.#node = member ? { [self]: leaf } : {};
  }

  add(element: PathElement, node: FieldNode | undefined): void {
    if (node === undefined) return;
    this.#node[element] = node;
    this.#isEmpty = false;
  }

  /** Returns the node, or `undefined` if nothing was added and the field of the node itself is not in the set. */
  build(): FieldNode | undefined {
    const node = this.buildSorted();
    return node === undefined || isSorted(node) ? node : sorted(node);
  }

  /** Like {@link build}, for elements that were added in the server's order, for example taken from another node. */
  buildSorted(): FieldNode | undefined {
    if (!this.#isEmpty) return this.#node;
    return this.#node[self] === undefined ? undefined : leaf;
  }
}

function isSorted(node: FieldNode): boolean {
  let last: PathElement = self;
  for (const element in node) {
    if (last !== self && comparePathElements(last, element) > 0) return false;
    last = element;
  }
  return true;
}

function sorted(node: FieldNode): FieldNode {
  const ordered: FieldsV1 = node[self] === undefined ? {} : { [self]: leaf };
  for (const element of elementsOf(node).sort(comparePathElements)) {
    ordered[element] = node[element] ?? leaf;
  }
  return ordered;
}

/** Returns the members of either node. */
export function unionOf(a: FieldNode | undefined, b: FieldNode | undefined): FieldNode | undefined {
  if (a === undefined || a === b) return b;
  if (b === undefined) return a;
  return unionChildren(a, b, isMember(a) || isMember(b));
}

/** Like {@link unionOf}, for roots. */
export function unionOfRoots(a: FieldNode, b: FieldNode): FieldNode {
  if (a === b || isLeaf(b)) return a;
  return isLeaf(a) ? b : unionChildren(a, b, false);
}

function unionChildren(a: FieldNode, b: FieldNode, member: boolean): FieldNode {
  const builder = new FieldNodeBuilder(member);
  let grown = false;
  for (const element of elementsOf(a)) {
    const child = a[element];
    const both = unionOf(child, b[element]);
    grown ||= both !== child;
    builder.add(element, both);
  }
  for (const element of elementsOf(b)) {
    if (a[element] !== undefined) continue;
    grown = true;
    builder.add(element, b[element]);
  }
  // An operation without changes returns its argument, so that callers can detect a no-op.
  if (!grown && member === isMember(a)) return a;
  return builder.build() ?? leaf;
}

/** Returns the members of both nodes, or `undefined` for the empty set. */
function intersectionOf(a: FieldNode, b: FieldNode): FieldNode | undefined {
  return a === b ? a : intersectChildren(a, b, isMember(a) && isMember(b));
}

/** Like {@link intersectionOf}, for roots. */
export function intersectionOfRoots(a: FieldNode, b: FieldNode): FieldNode {
  return intersectChildren(a, b, false) ?? leaf;
}

function intersectChildren(a: FieldNode, b: FieldNode, member: boolean): FieldNode | undefined {
  const builder = new FieldNodeBuilder(member);
  for (const element of elementsOf(a)) {
    const other = b[element];
    if (other !== undefined) builder.add(element, intersectionOf(a[element] ?? leaf, other));
  }
  return builder.buildSorted();
}

/** Returns the fields of `a` that are not in `b`: a parent in `b` does not remove its children. */
function differenceOf(a: FieldNode, b: FieldNode): FieldNode | undefined {
  return differ(a, b, { member: isMember(a) && !isMember(b), ofChildren: differenceOf });
}

/** Like {@link differenceOf}, for roots. */
export function differenceOfRoots(a: FieldNode, b: FieldNode): FieldNode {
  return differ(a, b, { member: false, ofChildren: differenceOf, root: true }) ?? leaf;
}

/** Returns the fields of `a` that are neither in `b` nor below a field in `b`. */
export function recursiveDifferenceOfRoots(a: FieldNode, b: FieldNode): FieldNode {
  return differ(a, b, { member: false, ofChildren: recursiveDifferenceOf, root: true }) ?? leaf;
}

function recursiveDifferenceOf(a: FieldNode, b: FieldNode): FieldNode | undefined {
  if (isMember(b)) return undefined;
  return differ(a, b, { member: isMember(a), ofChildren: recursiveDifferenceOf });
}

interface DifferHow {
  readonly member: boolean;
  readonly ofChildren: (a: FieldNode, b: FieldNode) => FieldNode | undefined;
  readonly root?: boolean;
}

function differ(a: FieldNode, b: FieldNode, how: DifferHow): FieldNode | undefined {
  if (how.root !== true && how.member === isMember(a) && !sharesElements(a, b)) return a;
  const builder = new FieldNodeBuilder(how.member);
  let shrunk = how.root !== true && how.member !== isMember(a);
  for (const element in a) {
    if (element === self) continue;
    const child = a[element] ?? leaf;
    const other = b[element];
    const rest = other === undefined ? child : how.ofChildren(child, other);
    shrunk ||= rest !== child;
    builder.add(element, rest);
  }
  return shrunk ? builder.buildSorted() : a;
}

function sharesElements(a: FieldNode, b: FieldNode): boolean {
  for (const element in b) {
    if (element !== self && a[element] !== undefined) return true;
  }
  return false;
}

/** Whether both nodes have the same fields. */
export function nodesEqual(a: FieldNode, b: FieldNode): boolean {
  if (a === b) return true;
  const [elements, others] = [Object.keys(a), Object.keys(b)];
  if (elements.length !== others.length) return false;
  return elements.every((element) => {
    const [child, other] = [a[element], b[element]];
    return child !== undefined && other !== undefined && nodesEqual(child, other);
  });
}

/** Whether every field of `b` is in `a`; for roots. */
export function covers(a: FieldNode, b: FieldNode): boolean {
  return isLeaf(differenceOfRoots(b, a));
}

/** Returns the fields with nothing below them in the set; for roots too. */
export function leavesOf(node: FieldNode): FieldNode {
  const builder = new FieldNodeBuilder(false);
  for (const element of elementsOf(node)) builder.add(element, leavesOf(node[element] ?? leaf));
  return builder.buildSorted() ?? leaf;
}

/**
 * Converts a set that a client wrote into the server's form and order, without elements of unknown types. Returns
 * `fields` itself if it is already canonical.
 * @throws OperatorError `InvalidValue`: an element is invalid, or its value is not an object.
 */
export function canonicalRoot(fields: FieldsV1): FieldNode {
  if (fields[self] === undefined && isCanonical(fields)) return fields;
  return withoutSelf(canonicalNode(fields));
}

/** Whether `fields` is in the server's form, as are all fields that a server sent. Copies nothing. */
function isCanonical(fields: unknown): boolean {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return false;
  let last: string | undefined;
  for (const text in fields) {
    const isSelf = text === self;
    if (!isSelf && !isPlainElement(text) && canonicalElement(text) !== text) return false;
    // `.` comes first, and never alone.
    if (last !== undefined && (isSelf || isBehind(last, text))) return false;
    if (!isSelf && !isCanonical((fields as FieldsV1)[text])) return false;
    last = text;
  }
  return last !== self;
}

function isBehind(last: string, element: PathElement): boolean {
  return last !== self && comparePathElements(last, element) >= 0;
}

/** Returns `node` without the entry `.`, which stands for the field of the node itself. */
export function withoutSelf(node: FieldNode): FieldNode {
  if (node[self] === undefined) return node;
  return Object.fromEntries(elementsOf(node).map((element) => [element, node[element] ?? leaf]));
}

function canonicalNode(fields: FieldsV1): FieldNode {
  const nodes = new Map<PathElement, FieldNode>();
  for (const [text, child] of Object.entries(fields)) {
    const element = text === self ? undefined : canonicalElement(text);
    if (element === undefined) continue;
    const node = canonicalNode(asNode(text, child));
    nodes.set(element, unionOf(nodes.get(element), node) ?? node);
  }
  const builder = new FieldNodeBuilder(fields[self] !== undefined);
  for (const [element, node] of nodes) builder.add(element, node);
  // A node without remaining elements counts as a member, as on the server.
  return builder.build() ?? leaf;
}

function asNode(element: string, child: unknown): FieldsV1 {
  if (child === null || child === undefined) return leaf;
  if (typeof child === 'object' && !Array.isArray(child)) return child as FieldsV1;
  throw new OperatorError('InvalidValue', `path element ${JSON.stringify(element)}: not an object`);
}
