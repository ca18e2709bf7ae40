import { isJsonObject, holdList } from '../../object/index.js';
import type { LazyList } from '../../object/index.js';
import type { Document } from '../document.js';
import { guarded } from '../expression/compile-expression.js';
import { readPath, compileFinder } from '../expression/json-path/find.js';
import type { ExpressionOptions } from '../expression/compiled.js';
import { parsePath, isSingular } from '../expression/json-path/parse-path.js';
import type { Comparable, Path, Test } from '../expression/json-path/parse-path.js';
import { compilePlaceSetter, unsettable } from '../expression/json-path/set-at-path.js';
import type { CompileContext } from '../spec-problem.js';

/** The dependencies of an expression. */
interface References {
  /** The members of the document that the expression reads, `a` for `$.a.b`. */
  readonly members: ReadonlySet<string>;
  /** Whether the expression may read the whole document, as `$` or `$..a` do. */
  readonly whole: boolean;
  /** Whether its result may differ for the same document, as with `@now` and `@rnd`. */
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
      if (name === '@literal') continue;
      if (name === '@rnd' || name === '@now') found.volatile = true;
      // A setter's path refers to the result, but a filter in it may read the document.
      if (name.startsWith('$')) lookAtSetter(name, found);
      // The path of `@set` refers to its first operand.
      look(name === '@set' && Array.isArray(value) ? value.toSpliced(1, 1) : value, found);
    }
  }
}

function lookAtText(text: string, found: Found): void {
  if (text === '@now') found.volatile = true;
  if (!text.startsWith('$')) return;
  try {
    lookAtPath(parsePath(text), found);
  } catch {
    // The compiler reports the invalid path. Here it counts as a path to the whole document.
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

export interface DocumentPath {
  /** Returns the value at the place; undefined if there is no value. Never throws. */
  get(document: Document): unknown;
  /**
   * Returns a copy with `value` at the place, and creates missing parents.
   * @throws DataError a parent of the place is neither a map nor a list.
   */
  set(document: Document, value: unknown): Document;
  /** Like `set`, with a list whose items are computed on first read. */
  hold(document: Document, list: LazyList): Document;
}

/** The stage that uses a path, and its place. */
interface PathSite {
  /** The stage, for example `@unwind`. */
  readonly stage: string;
  readonly context: CompileContext;
  readonly options: ExpressionOptions;
}

/** Compiles a path that refers to one place below the document. undefined: a problem was reported. */
export function compileDocumentPath(source: unknown, site: PathSite): DocumentPath | undefined {
  const { stage, context, options } = site;
  const path = pathOf(source, site);
  if (path === undefined) return undefined;
  const wrong = notOnePlace(path);
  if (wrong !== undefined) {
    context.report({
      message: `${stage}: want a path that names one field or list item: ${wrong}`,
    });
    return undefined;
  }
  const find = compileFinder(path);
  const setPlace = compilePlaceSetter(path, stage);
  // The path is below the document, so the result is an object again.
  const set = (document: Document, value: unknown) =>
    setPlace(document, value, document) as Document;
  const guardedSet = guarded(set, options);
  return {
    get: (document) => find(document, document),
    set: guardedSet,
    hold: holding(path, guardedSet),
  };
}

function holding({ root, segments }: Path, set: DocumentPath['set']): DocumentPath['hold'] {
  const last = segments.at(-1)?.selectors[0];
  if (last?.kind !== 'name') return (document, list) => set(document, list.items);
  const findHolder = compileFinder({ root, segments: segments.slice(0, -1) });
  return (document, list) => {
    // The setter has copied all parents of the list, so the copy may be modified.
    const copy = set(document, []);
    holdList(findHolder(copy, copy) as object, last.name, list);
    return copy;
  };
}

function pathOf(source: unknown, { stage, context }: PathSite): Path | undefined {
  if (typeof source === 'string' && source.startsWith('$')) return readPath(source, context);
  context.report({ message: `${stage}: want a JSONPath, for example "$.spec.ports"` });
  return undefined;
}

function notOnePlace(path: Path): string | undefined {
  if (path.root !== '$') return '$$ is not available outside list operators';
  const [first] = path.segments;
  if (first === undefined) return '$ is the document itself';
  if (first.selectors[0]?.kind === 'index') return 'a document is a map, not a list';
  if (!isSingular(path)) return 'names and indexes, no wildcard, slice, filter or ..';
  return unsettable(path);
}
