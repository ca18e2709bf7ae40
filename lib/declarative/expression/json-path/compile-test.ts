import { GoPattern, goPattern } from '../../../crd/cel/go.js';
import { deepEqual } from '../../../object/deep-equal.js';
import { isJsonObject } from '../../../object/json.js';
import type { Finder, Walker } from './find.js';
import type { Comparable, CompareOperator, Path, Test } from './path-syntax.js';

/** Whether a node passes a filter. */
export type NodeTest = (node: unknown, document: unknown) => boolean;

/** Compiles paths; a parameter, because paths and filters are mutually recursive. */
export interface PathCompiler {
  compileFinder(path: Path): Finder;
  compileWalker(path: Path): Walker;
}

/** Returns the value of a comparable; undefined if it has no value. */
type ValueOf = (node: unknown, document: unknown) => unknown;

/** Compiles the condition of a filter. A missing value equals only a missing value. */
export function compileTest(test: Test, compiler: PathCompiler): NodeTest {
  switch (test.kind) {
    case 'or': {
      const tests = test.tests.map((part) => compileTest(part, compiler));
      return (node, document) => tests.some((part) => part(node, document));
    }
    case 'and': {
      const tests = test.tests.map((part) => compileTest(part, compiler));
      return (node, document) => tests.every((part) => part(node, document));
    }
    case 'not': {
      const inner = compileTest(test.test, compiler);
      return (node, document) => !inner(node, document);
    }
    case 'exists': {
      const find = atRoot(test.path, compiler.compileFinder(test.path));
      return (node, document) => find(node, document) !== undefined;
    }
    case 'in': {
      const left = compileComparable(test.left, compiler);
      const { items } = test;
      return (node, document) => {
        const value = left(node, document);
        return items.some((item) => item === value);
      };
    }
    case 'matches':
      return compileMatches(test, compiler);
    case 'compare': {
      const left = compileComparable(test.left, compiler);
      const right = compileComparable(test.right, compiler);
      const holds = relation(test.operator);
      return (node, document) => holds(left(node, document), right(node, document));
    }
  }
}

function compileComparable(comparable: Comparable, compiler: PathCompiler): ValueOf {
  switch (comparable.kind) {
    case 'literal': {
      const { value } = comparable;
      return () => value;
    }
    case 'path':
      return atRoot(comparable.path, compiler.compileFinder(comparable.path));
    case 'length': {
      const of = compileComparable(comparable.of, compiler);
      return (node, document) => lengthOf(of(node, document));
    }
    case 'count': {
      const { path } = comparable;
      const walk = compiler.compileWalker(path);
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

/** Compares two numbers or two texts; other values have no order, and the result is false. */
function isBelow(left: unknown, right: unknown): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left < right;
  return typeof left === 'string' && typeof right === 'string' && left < right;
}

function compileMatches(
  { whole, operands }: Extract<Test, { kind: 'matches' }>,
  compiler: PathCompiler,
): NodeTest {
  const [text, pattern] = operands.map((operand) => compileComparable(operand, compiler));
  return (node, document) => {
    const value = text?.(node, document);
    const source = pattern?.(node, document);
    if (typeof value !== 'string' || typeof source !== 'string') return false;
    // Go's syntax, in linear time. A filter with an invalid pattern matches nothing.
    const expression = goPattern(whole ? `^(?:${source})$` : source);
    return expression instanceof GoPattern && expression.test(value);
  };
}
