import type { CompileContext } from '../spec-problem.js';
import { type Compiled, type Compiler, dynamic, failed } from './compiled.js';
import { compileFinder } from './json-path/find.js';
import { parsePath } from './json-path/parse-path.js';
import { type Path, PathSyntaxError } from './json-path/path-syntax.js';

/** Parses a JSONPath. undefined: it is invalid, and the problem was reported with its position. */
export function readPath(text: string, context: CompileContext): Path | undefined {
  try {
    return parsePath(text);
  } catch (error) {
    if (!(error instanceof PathSyntaxError)) throw error;
    const { message, position } = error;
    context.report({
      message: `${JSON.stringify(text)} is no JSONPath: character ${position}: ${message}`,
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
  const message = `${text}: there is an element, $$, only in @map, @filter, @any, @all and @none`;
  context.report({ message, suggestion: text.slice(1) });
  return failed;
}
