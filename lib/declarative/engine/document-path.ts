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
  /** What is there; undefined: nothing. Never throws. */
  get(document: Document): unknown;
  /**
   * A copy with `value` there; its parents are made.
   * @throws DataError something else stands in the way.
   */
  set(document: Document, value: unknown): Document;
}

/** What wants a path, and where it stands. */
export interface PathSite {
  /** The stage, for example `@unwind`. */
  readonly stage: string;
  readonly context: CompileContext;
  readonly options: ExpressionOptions;
}

/** Compiles the path of one place, below the document. undefined: a problem was reported. */
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
  // Below the document: what comes out is an object again.
  const set = (document: Document, value: unknown) =>
    setPlace(document, value, document) as Document;
  return { get: (document) => find(document, document), set: guarded(set, options) };
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
