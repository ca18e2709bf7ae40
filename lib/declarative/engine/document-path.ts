import { holdList } from '../../object/known-list.js';
import type { LazyList } from '../../object/known-list.js';
import type { Document } from '../document.js';
import { guarded } from '../expression/compile-expression.js';
import { readPath } from '../expression/compile-path.js';
import type { ExpressionOptions } from '../expression/expression-options.js';
import { compileFinder } from '../expression/json-path/find.js';
import { isSingular } from '../expression/json-path/path-syntax.js';
import type { Path } from '../expression/json-path/path-syntax.js';
import { compilePlaceSetter, unsettable } from '../expression/json-path/set-at-path.js';
import type { CompileContext } from '../spec-problem.js';

/** A place in documents. */
export interface DocumentPath {
  /** Returns the value at the place; undefined if there is no value. Never throws. */
  get(document: Document): unknown;
  /**
   * Returns a copy with `value` at the place, and creates missing parents.
   * @throws DataError another value is in the way.
   */
  set(document: Document, value: unknown): Document;
  /** Like `set`, with a list whose items are computed on first read. */
  hold(document: Document, list: LazyList): Document;
}

/** The stage that uses a path, and its place. */
export interface PathSite {
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
    context.report({ message: `${stage} wants the path of one place: ${wrong}` });
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
    // The setter has copied all parents.
    const copy = set(document, []);
    holdList(findHolder(copy, copy) as object, last.name, list);
    return copy;
  };
}

function pathOf(source: unknown, { stage, context }: PathSite): Path | undefined {
  if (typeof source === 'string' && source.startsWith('$')) return readPath(source, context);
  context.report({ message: `${stage} wants a JSONPath, for example "$.spec.ports"` });
  return undefined;
}

function notOnePlace(path: Path): string | undefined {
  if (path.root !== '$') return 'there is no element, $$, outside of list operators';
  const [first] = path.segments;
  if (first === undefined) return '$ is the document itself';
  if (first.selectors[0]?.kind === 'index') return 'a document is a map, not a list';
  if (!isSingular(path)) return 'names and indexes, no wildcard, slice, filter or ..';
  return unsettable(path);
}
