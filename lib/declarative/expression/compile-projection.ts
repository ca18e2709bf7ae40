import { isJsonObject } from '../../object/json.js';
import type { Document } from '../document.js';
import type { CompileContext } from '../spec-problem.js';
import { compilePart, guarded } from './compile-expression.js';
import type { ExpressionOptions } from './expression-options.js';
import { mergeMaps } from './merge-maps.js';
import { map } from './operands.js';

/** Makes a new document from another. Never changes its input; the result may share parts of it. */
export type Projection = (document: Document) => Document;

/**
 * Compiles the argument of `@project`: an expression that yields a map, or a list of such expressions. Each
 * item of a list is evaluated on the same document. The maps are merged, later over earlier, and lists are
 * appended; the projection throws DataError for a value that is not a map. dcontroller's original form is
 * equivalent: `@merge` with a list is that list; with a map it merges the map over the document.
 */
export function compileProjection(
  source: unknown,
  context: CompileContext,
  options: ExpressionOptions = {},
): Projection {
  if (isMerge(source)) return compileMerge(source['@merge'], context.at('@merge'), options);
  const items = Array.isArray(source)
    ? source.map((item, index) => compileItem(item, context.at(index), options))
    : [compileItem(source, context, options)];
  if (items.length === 0) context.report({ message: '@project wants a map, or a list of maps' });
  const [first, ...others] = items;
  const project: Projection = (document) =>
    others.reduce((merged, item) => mergeMaps(merged, item(document)), first?.(document) ?? {});
  return guarded(project, options);
}

function isMerge(source: unknown): source is { readonly '@merge': unknown } {
  return isJsonObject(source) && Object.keys(source).join() === '@merge';
}

function compileMerge(
  merged: unknown,
  context: CompileContext,
  options: ExpressionOptions,
): Projection {
  if (Array.isArray(merged)) return compileProjection(merged, context, options);
  const item = compileItem(merged, context, options);
  return guarded((document: Document) => mergeMaps(document, item(document)), options);
}

function compileItem(
  source: unknown,
  context: CompileContext,
  options: ExpressionOptions,
): Projection {
  const { evaluate, type } = compilePart(source, context, options);
  if (type !== undefined && type !== 'map') {
    context.report({ message: `@project wants a map, or a list of maps, not a ${type}` });
  }
  return (document) => map.read(evaluate(document), '@project');
}
