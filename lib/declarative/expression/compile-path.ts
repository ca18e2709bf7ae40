import type { CompileContext } from '../spec-problem.js';
import { type Compiled, dynamic, failed } from './compiled.js';
import { compileFinder } from './json-path/find.js';
import { parsePath } from './json-path/parse-path.js';
import { type Path, PathSyntaxError } from './json-path/path-syntax.js';

/** Reads a JSONPath; undefined: it is none, which was reported with the position. */
export function readPath(text: string, context: CompileContext): Path | undefined {
  try {
    return parsePath(text);
  } catch (error) {
    if (!(error instanceof PathSyntaxError)) throw error;
    const message = `${JSON.stringify(text)} is no JSONPath: character ${error.position}: ${error.message}`;
    context.report({ message });
    return undefined;
  }
}

/** Compiles a getter: the first match, or null. */
export function compileGetter(text: string, context: CompileContext): Compiled {
  const path = readPath(text, context);
  if (path === undefined) return failed;
  const find = compileFinder(path);
  return path.root === '$$'
    ? dynamic((document, element) => find(element, document) ?? null)
    : dynamic((document) => find(document, document) ?? null);
}
