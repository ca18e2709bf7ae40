import { isJsonObject, memberOf } from '../../../object/json.js';
import { compileTest } from './compile-test.js';
import type { Path, Segment, Selector } from './path-syntax.js';

/**
 * Finds the first node that a path leads to, from `node`; undefined if there is no such node.
 * @param document - the value of `$` within filters
 */
export type Finder = (node: unknown, document: unknown) => unknown;

/** Called with each node found, in order; a result other than undefined ends the search. */
export type Visit = (node: unknown) => unknown;

/** Calls `visit` with each node found below `node`, until it returns a value. */
export type Walker = (node: unknown, document: unknown, visit: Visit) => unknown;

/** Compiles a finder for a path. It stops at the first match. */
export function compileFinder({ segments }: Path): Finder {
  const names = plainNames(segments);
  if (names !== undefined) return nameFinder(names);
  const walk = compileWalker({ root: '$', segments });
  return (node, document) => walk(node, document, itself);
}

/** Compiles a walker over all nodes of a path. */
export function compileWalker({ segments }: Path): Walker {
  const last: Walker = (node, _document, visit) => visit(node);
  return segments.reduceRight<Walker>((next, segment) => segmentWalker(segment, next), last);
}

function itself(node: unknown): unknown {
  return node;
}

/** Returns the names of a path that consists of names only, as most paths do. */
function plainNames(segments: readonly Segment[]): string[] | undefined {
  const names: string[] = [];
  for (const { descendant, selectors } of segments) {
    const [selector] = selectors;
    if (descendant || selectors.length !== 1 || selector?.kind !== 'name') return undefined;
    names.push(selector.name);
  }
  return names;
}

function nameFinder(names: readonly string[]): Finder {
  if (names.some(isInherited)) return ownNameFinder(names);
  return (node) => {
    let found = node;
    for (const name of names) {
      if (typeof found !== 'object' || found === null) return undefined;
      found = (found as Readonly<Record<string, unknown>>)[name];
    }
    return found;
  };
}

/** Whether `name` is a property of maps or lists that is not a member: `constructor`, `0`. */
function isInherited(name: string): boolean {
  return name in Array.prototype || /^[0-9]/.test(name);
}

function ownNameFinder(names: readonly string[]): Finder {
  return (node) => {
    let found = node;
    for (const name of names) {
      if (!isJsonObject(found)) return undefined;
      found = memberOf(found, name);
    }
    return found;
  };
}

function segmentWalker({ descendant, selectors }: Segment, next: Walker): Walker {
  const walkers = selectors.map((selector) => selectorWalker(selector, next));
  const [only] = walkers;
  const walk: Walker =
    walkers.length === 1 && only !== undefined
      ? only
      : (node, document, visit) => firstOf(walkers, (walker) => walker(node, document, visit));
  return descendant ? descendantWalker(walk) : walk;
}

function descendantWalker(walk: Walker): Walker {
  const deep: Walker = (node, document, visit) => {
    if (typeof node !== 'object' || node === null) return undefined;
    const found = walk(node, document, visit);
    if (found !== undefined) return found;
    return firstOf(childrenOf(node), (child) => deep(child, document, visit));
  };
  return deep;
}

function selectorWalker(selector: Selector, next: Walker): Walker {
  // An undefined member counts as absent.
  const present: Walker = (child, document, visit) =>
    child === undefined ? undefined : next(child, document, visit);
  switch (selector.kind) {
    case 'name': {
      const { name } = selector;
      return (node, document, visit) =>
        isJsonObject(node) ? present(memberOf(node, name), document, visit) : undefined;
    }
    case 'index': {
      const { index } = selector;
      return (node, document, visit) =>
        Array.isArray(node) ? present(node.at(index), document, visit) : undefined;
    }
    case 'wildcard':
      return (node, document, visit) =>
        firstOf(childrenOf(node), (child) => present(child, document, visit));
    case 'slice':
      return (node, document, visit) =>
        Array.isArray(node)
          ? firstOf(slicedIndexes(selector, node.length), (index) =>
              present(node[index], document, visit),
            )
          : undefined;
    case 'filter': {
      const test = compileTest(selector.test, { compileFinder, compileWalker });
      return (node, document, visit) =>
        firstOf(childrenOf(node), (child) =>
          test(child, document) ? present(child, document, visit) : undefined,
        );
    }
  }
}

/** Returns the children of a list or map, in order; other values have no children. */
export function childrenOf(node: unknown): readonly unknown[] {
  if (Array.isArray(node)) return node;
  return isJsonObject(node) ? Object.values(node) : [];
}

/** Returns the indexes that a slice selects from a list of `length`, in its order, according to RFC 9535. */
export function slicedIndexes(
  { start, end, step }: Extract<Selector, { kind: 'slice' }>,
  length: number,
): number[] {
  const indexes: number[] = [];
  if (step === 0) return indexes;
  const place = (index: number): number => (index < 0 ? length + index : index);
  const within = (index: number, from: number, to: number): number =>
    Math.min(Math.max(index, from), to);
  if (step > 0) {
    const upper = within(place(end ?? length), 0, length);
    for (let at = within(place(start ?? 0), 0, length); at < upper; at += step) indexes.push(at);
  } else {
    const lower = end === undefined ? -1 : within(place(end), -1, length - 1);
    const first = start === undefined ? length - 1 : within(place(start), -1, length - 1);
    for (let at = first; at > lower; at += step) indexes.push(at);
  }
  return indexes;
}

function firstOf<T>(items: readonly T[], find: (item: T) => unknown): unknown {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
