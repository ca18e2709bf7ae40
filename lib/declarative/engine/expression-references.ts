import { isJsonObject } from '../../object/json.js';
import { parsePath } from '../expression/json-path/parse-path.js';
import type { Comparable, Path, Test } from '../expression/json-path/path-syntax.js';

/** The dependencies of an expression. */
export interface References {
  /** The members of the document that it reads, `a` for `$.a.b`. */
  readonly members: ReadonlySet<string>;
  /** Whether it may read the whole document, as `$` or `$..a` do. */
  readonly whole: boolean;
  /** Whether it may yield different results for the same document: `@now`, `@rnd`. */
  readonly volatile: boolean;
}

interface Found {
  readonly members: Set<string>;
  whole: boolean;
  volatile: boolean;
}

/** Returns the dependencies of an expression as written. */
export function referencesOf(expression: unknown): References {
  const found: Found = { members: new Set(), whole: false, volatile: false };
  look(expression, found);
  return found;
}

function look(expression: unknown, found: Found): void {
  if (typeof expression === 'string') {
    lookAtText(expression, found);
  } else if (Array.isArray(expression)) {
    for (const item of expression) look(item, found);
  } else if (isJsonObject(expression)) {
    for (const [name, value] of Object.entries(expression)) {
      if (name === '@rnd' || name === '@now') found.volatile = true;
      // A setter's path refers to the result, but a filter in it may read the document.
      if (name.startsWith('$')) lookAtSetter(name, found);
      look(value, found);
    }
  }
}

function lookAtText(text: string, found: Found): void {
  if (text === '@now') found.volatile = true;
  if (!text.startsWith('$')) return;
  try {
    lookAtPath(parsePath(text), found);
  } catch {
    // The compiler reports the invalid path.
    found.whole = true;
  }
}

function lookAtSetter(name: string, found: Found): void {
  try {
    lookAtFilters(parsePath(name), found);
  } catch {
    found.whole = true;
  }
}

function lookAtPath(path: Path, found: Found): void {
  const { root, segments } = path;
  if (root === '$') {
    const [first] = segments;
    const [selector, ...more] = first?.selectors ?? [];
    if (first?.descendant === false && selector?.kind === 'name' && more.length === 0) {
      found.members.add(selector.name);
    } else {
      found.whole = true;
    }
  }
  lookAtFilters(path, found);
}

function lookAtFilters({ segments }: Path, found: Found): void {
  for (const { selectors } of segments) {
    for (const selector of selectors) {
      if (selector.kind === 'filter') lookAtTest(selector.test, found);
    }
  }
}

function lookAtTest(test: Test, found: Found): void {
  switch (test.kind) {
    case 'or':
    case 'and':
      for (const each of test.tests) lookAtTest(each, found);
      return;
    case 'not':
      lookAtTest(test.test, found);
      return;
    case 'exists':
      lookAtPath(test.path, found);
      return;
    case 'in':
      lookAtComparable(test.left, found);
      return;
    case 'matches':
      for (const operand of test.operands) lookAtComparable(operand, found);
      return;
    case 'compare':
      lookAtComparable(test.left, found);
      lookAtComparable(test.right, found);
  }
}

function lookAtComparable(comparable: Comparable, found: Found): void {
  switch (comparable.kind) {
    case 'literal':
      return;
    case 'path':
    case 'count':
      lookAtPath(comparable.path, found);
      return;
    case 'length':
      lookAtComparable(comparable.of, found);
  }
}
