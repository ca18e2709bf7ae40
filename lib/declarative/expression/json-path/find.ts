import { GoPattern, goPattern } from '../../../crd/internal.js';
import { deepEqual, isJsonObject, memberOf } from '../../../object/index.js';
import type { CompileContext } from '../../spec-problem.js';
import { dynamic, failed } from '../compiled.js';
import type { Compiled, Compiler } from '../compiled.js';
import { PathSyntaxError, parsePath } from './parse-path.js';
import type { Comparable, CompareOperator, Path, Segment, Selector, Test } from './parse-path.js';

/**
 * Finds the first node that a path leads to, from `node`; undefined if there is no such node.
 * @param document - the value of `$` within filters
 */
type Finder = (node: unknown, document: unknown) => unknown;

/** Called with each node found, in order; a result other than undefined ends the search. */
type Visit = (node: unknown) => unknown;

/** Calls `visit` with each node found below `node`, until it returns a value. */
type Walker = (node: unknown, document: unknown, visit: Visit) => unknown;

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

/** Whether a value may have the property `name` without being a map with this member: `constructor`, or an index. */
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
      const test = compileTest(selector.test);
      return (node, document, visit) =>
        firstOf(childrenOf(node), (child) =>
          test(child, document) ? present(child, document, visit) : undefined,
        );
    }
  }
}

/** Returns the children of a list or map, in order; other values have no children. */
function childrenOf(node: unknown): readonly unknown[] {
  if (Array.isArray(node)) return node;
  return isJsonObject(node) ? Object.values(node) : [];
}

/** Returns the indexes that a slice selects from a list of `length`, in its order, according to RFC 9535. */
export function slicedIndexes(
  { start, end, step }: Extract<Selector, { kind: 'slice' }>,
  length: number,
): number[] {
  const indexes: number[] = [];
  const place = (index: number): number => (index < 0 ? length + index : index);
  const within = (index: number, from: number, to: number): number =>
    Math.min(Math.max(index, from), to);
  if (step > 0) {
    const upper = within(place(end ?? length), 0, length);
    for (let at = within(place(start ?? 0), 0, length); at < upper; at += step) indexes.push(at);
  } else if (step < 0) {
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

/** Whether a node passes a filter. */
type NodeTest = (node: unknown, document: unknown) => boolean;

/** Returns the value of a comparable; undefined if it has no value. */
type ValueOf = (node: unknown, document: unknown) => unknown;

/** Compiles the condition of a filter. A missing value equals only a missing value. */
export function compileTest(test: Test): NodeTest {
  switch (test.kind) {
    case 'or': {
      const tests = test.tests.map((part) => compileTest(part));
      return (node, document) => tests.some((part) => part(node, document));
    }
    case 'and': {
      const tests = test.tests.map((part) => compileTest(part));
      return (node, document) => tests.every((part) => part(node, document));
    }
    case 'not': {
      const inner = compileTest(test.test);
      return (node, document) => !inner(node, document);
    }
    case 'exists': {
      const find = atRoot(test.path, compileFinder(test.path));
      return (node, document) => find(node, document) !== undefined;
    }
    case 'in': {
      const left = compileComparable(test.left);
      const { items } = test;
      return (node, document) => {
        const value = left(node, document);
        return items.some((item) => item === value);
      };
    }
    case 'matches':
      return compileMatches(test);
    case 'compare': {
      const left = compileComparable(test.left);
      const right = compileComparable(test.right);
      const holds = relation(test.operator);
      return (node, document) => holds(left(node, document), right(node, document));
    }
  }
}

function compileComparable(comparable: Comparable): ValueOf {
  switch (comparable.kind) {
    case 'literal': {
      const { value } = comparable;
      return () => value;
    }
    case 'path':
      return atRoot(comparable.path, compileFinder(comparable.path));
    case 'length': {
      const of = compileComparable(comparable.of);
      return (node, document) => lengthOf(of(node, document));
    }
    case 'count': {
      const { path } = comparable;
      const walk = compileWalker(path);
      return (node, document) => {
        let count = 0;
        walk(path.root === '@' ? node : document, document, () => {
          count += 1;
          return undefined;
        });
        return count;
      };
    }
  }
}

function atRoot({ root }: Path, find: Finder): ValueOf {
  return root === '@' ? find : (_node, document) => find(document, document);
}

function lengthOf(value: unknown): number | undefined {
  // Characters, not UTF-16 code units.
  if (typeof value === 'string') return Array.from(value).length;
  if (Array.isArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).length : undefined;
}

function relation(operator: CompareOperator): (left: unknown, right: unknown) => boolean {
  switch (operator) {
    case '==':
      return deepEqual;
    case '!=':
      return (left, right) => !deepEqual(left, right);
    case '<':
      return isBelow;
    case '<=':
      return (left, right) => isBelow(left, right) || deepEqual(left, right);
    case '>':
      return (left, right) => isBelow(right, left);
    case '>=':
      return (left, right) => isBelow(right, left) || deepEqual(left, right);
  }
}

/** Compares two numbers or two strings; other values have no order, and the result is false. */
function isBelow(left: unknown, right: unknown): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left < right;
  return typeof left === 'string' && typeof right === 'string' && left < right;
}

function compileMatches({ whole, operands }: Extract<Test, { kind: 'matches' }>): NodeTest {
  const [text, pattern] = operands.map((operand) => compileComparable(operand));
  return (node, document) => {
    const value = text?.(node, document);
    const source = pattern?.(node, document);
    if (typeof value !== 'string' || typeof source !== 'string') return false;
    // Patterns have Go's syntax and match in linear time. A filter with an invalid pattern matches nothing.
    const expression = goPattern(whole ? `^(?:${source})$` : source);
    return expression instanceof GoPattern && expression.test(value);
  };
}

/** Parses a JSONPath. undefined: it is invalid, and the problem was reported with its position. */
export function readPath(text: string, context: CompileContext): Path | undefined {
  try {
    return parsePath(text);
  } catch (error) {
    if (!(error instanceof PathSyntaxError)) throw error;
    const { message, position } = error;
    context.report({
      message: `invalid JSONPath ${JSON.stringify(text)}: character ${position}: ${message}`,
      // A text that begins with $ but does not continue as a path may be meant literally.
      ...(position === 2 && { suggestion: `{"@literal": ${JSON.stringify(text)}}` }),
    });
    return undefined;
  }
}

/** Compiles a getter, which yields the first match or null. */
export function compileGetter(
  text: string,
  { hasElement }: Compiler,
  context: CompileContext,
): Compiled {
  const path = readPath(text, context);
  if (path === undefined) return failed;
  const find = compileFinder(path);
  if (path.root === '$') return dynamic((document) => find(document, document) ?? null);
  if (hasElement) return dynamic((document, element) => find(element, document) ?? null);
  const message = `${text}: $$ is available only in @map, @filter, @any, @all and @none`;
  context.report({ message, suggestion: text.slice(1) });
  return failed;
}
