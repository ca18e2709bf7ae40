import { isJsonObject, memberOf } from '../../../object/json.js';
import { compileTest } from './compile-test.js';
import type { Path, Segment, Selector } from './path-syntax.js';

/**
 * Finds the first node that a path leads to, from `node`; undefined: there is none.
 * @param document - what `$` is within filters
 */
export type Finder = (node: unknown, document: unknown) => unknown;

/** Is shown each node found, in order; what it returns, unless undefined, ends the search. */
export type Visit = (node: unknown) => unknown;

/** Shows `visit` each node found below `node`, until it returns something. */
export type Walker = (node: unknown, document: unknown, visit: Visit) => unknown;

/** A finder for a path. What comes after the first match is not looked at. */
export function compileFinder({ segments }: Path): Finder {
  const names = plainNames(segments);
  if (names !== undefined) return nameFinder(names);
  const walk = compileWalker({ root: '$', segments });
  return (node, document) => walk(node, document, itself);
}

/** A walker over all that a path leads to. */
export function compileWalker({ segments }: Path): Walker {
  const last: Walker = (node, _document, visit) => visit(node);
  return segments.reduceRight<Walker>((next, segment) => segmentWalker(segment, next), last);
}

function itself(node: unknown): unknown {
  return node;
}

/** The names of a path that has nothing else: most paths are such. */
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
  switch (selector.kind) {
    case 'name': {
      const { name } = selector;
      return (node, document, visit) =>
        continued(isJsonObject(node) ? memberOf(node, name) : undefined, document, visit, next);
    }
    case 'index': {
      const { index } = selector;
      return (node, document, visit) =>
        continued(Array.isArray(node) ? node.at(index) : undefined, document, visit, next);
    }
    case 'wildcard':
      return (node, document, visit) =>
        firstOf(childrenOf(node), (child) => continued(child, document, visit, next));
    case 'slice':
      return (node, document, visit) =>
        Array.isArray(node)
          ? firstOf(slicedIndexes(selector, node.length), (index) =>
              continued(node[index], document, visit, next),
            )
          : undefined;
    case 'filter': {
      const test = compileTest(selector.test, { compileFinder, compileWalker });
      return (node, document, visit) =>
        firstOf(childrenOf(node), (child) =>
          test(child, document) ? continued(child, document, visit, next) : undefined,
        );
    }
  }
}

// eslint-disable-next-line @typescript-eslint/max-params
function continued(child: unknown, document: unknown, visit: Visit, next: Walker): unknown {
  // A member that is undefined counts as absent.
  return child === undefined ? undefined : next(child, document, visit);
}

/** The children of a list or a map, in order; nothing else has any. */
export function childrenOf(node: unknown): readonly unknown[] {
  if (Array.isArray(node)) return node;
  return isJsonObject(node) ? Object.values(node) : [];
}

/** Which indexes a slice takes of a list of `length`, in its order; as RFC 9535 has it. */
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
