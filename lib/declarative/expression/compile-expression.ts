import { deepFreeze, isJsonObject, memberOf, setMember } from '../../object/index.js';
import { nearestName } from '../../system/index.js';
import type { Document } from '../document.js';
import type { CompileContext } from '../spec-problem.js';
import { compileGetter, readPath } from './json-path/find.js';
import { compileLiteral, constant, dynamic, failed, resolveExpressionOptions } from './compiled.js';
import type { Compiled, Compiler, ExpressionOptions, Expression } from './compiled.js';
import { DataError, isDataError, condition, map } from './operands.js';
import { compilePlaceSetter, unsettable } from './json-path/set-at-path.js';
import { namesElsewhere, operators, compileNow } from './operators/operators.js';

/**
 * Compiles an expression. Reports each problem to `context`, at its place; an expression with problems must
 * not be evaluated (it yields null).
 * @param source - JSON: a literal, a getter (`$.a`, `$$.a`), a map, a list, or an operator
 */
export function compileExpression(
  source: unknown,
  context: CompileContext,
  options: ExpressionOptions = {},
): Expression {
  return guarded(compilePart(source, context, options).evaluate, options);
}

/**
 * Compiles an expression that yields true or false. A value of another type is a problem that is reported at load if
 * the type is known then; otherwise the evaluation throws a DataError.
 * @param operation - the caller's name for messages, for example `@select`
 */
export function compileCondition(
  source: unknown,
  context: CompileContext,
  { operation, ...options }: ExpressionOptions & { readonly operation: string },
): (document: Document, element?: unknown) => boolean {
  const { evaluate, type } = compilePart(source, context, options);
  if (type !== undefined && type !== 'boolean') {
    context.report({ message: `${operation}: want true or false, got a ${type}` });
  }
  const run: Expression = (document, element) =>
    condition.read(evaluate(document, element), operation);
  return guarded(run, options) as (document: Document, element?: unknown) => boolean;
}

/** Compiles an expression to a part, with its type and value if they are known at load. */
function compilePart(
  source: unknown,
  context: CompileContext,
  options: ExpressionOptions,
): Compiled {
  const { clock, random } = resolveExpressionOptions(options);
  return compilerOf({ clock, random, hasElement: false }).compile(source, context);
}

function compilerOf(settings: Pick<Compiler, 'clock' | 'random' | 'hasElement'>): Compiler {
  const compiler: Compiler = {
    ...settings,
    get withElement() {
      return settings.hasElement ? compiler : compilerOf({ ...settings, hasElement: true });
    },
    compile: (part, context) => compileSource(part, compiler, context),
  };
  return compiler;
}

/** Wraps a function: if `showValues` is false, the data errors that it throws have no values. */
export function guarded<T extends (...parameters: never[]) => unknown>(
  run: T,
  options: ExpressionOptions,
): T {
  if (resolveExpressionOptions(options).showValues) return run;
  const silent = (...parameters: Parameters<T>): unknown => {
    try {
      return run(...parameters);
    } catch (error) {
      throw isDataError(error) ? error.withoutValue() : error;
    }
  };
  return silent as T;
}

function compileSource(source: unknown, compiler: Compiler, context: CompileContext): Compiled {
  if (typeof source === 'string') return compileText(source, compiler, context);
  if (Array.isArray(source)) return compileList(source, compiler, context);
  if (isJsonObject(source)) return compileObject(source, compiler, context);
  return compileLiteral(source, context);
}

function compileText(source: string, compiler: Compiler, context: CompileContext): Compiled {
  if (source.startsWith('$')) return compileGetter(source, compiler, context);
  return source === '@now'
    ? compileNow(null, { name: source, compiler, context })
    : constant(source);
}

function compileList(
  source: readonly unknown[],
  compiler: Compiler,
  context: CompileContext,
): Compiled {
  const items = source.map((item, index) => compiler.compile(item, context.at(index)));
  if (items.some((item) => item.failed)) return failed;
  const evaluations = items.map(({ evaluate }) => evaluate);
  const build: Expression = (document, element) =>
    evaluations.map((evaluate) => evaluate(document, element) ?? null);
  return items.every((item) => item.constant)
    ? constant(deepFreeze(build({})))
    : dynamic(build, 'list');
}

function compileObject(
  source: Readonly<Record<string, unknown>>,
  compiler: Compiler,
  context: CompileContext,
): Compiled {
  const names = Object.keys(source);
  const name = names.find((key) => key.startsWith('@'));
  if (name === undefined) return compileMap(source, compiler, context);
  if (names.length > 1) {
    const message = `an operator must be the only key of its map, got ${names.join(', ')}`;
    context.report({ message });
    return failed;
  }
  const definition = operators.get(name);
  if (definition === undefined) {
    const suggestion = namesElsewhere.get(name) ?? nearestName(name, operators.keys());
    context.report({ message: `there is no operator ${name}`, suggestion }, name);
    return failed;
  }
  return definition.compile(source[name], { name, compiler, context: context.at(name) });
}

type MutableMap = Record<string, unknown>;

/** Adds one entry to the map being built; returns the resulting map. */
type Entry = (built: MutableMap, document: Readonly<MutableMap>, element: unknown) => MutableMap;

/** Compiles a map that is not an operator: its keys are names or setters, its values expressions. */
function compileMap(
  source: Readonly<Record<string, unknown>>,
  compiler: Compiler,
  context: CompileContext,
): Compiled {
  const names = Object.keys(source);
  const values = names.map((name) => compiler.compile(source[name], context.at(name)));
  const entries = names.map((name, index) =>
    compileEntry(name, values[index] ?? failed, context.at(name)),
  );
  if (values.some((value) => value.failed)) return failed;
  if (!entries.every((entry) => entry !== undefined)) return failed;
  const build: Expression = (document, element) =>
    entries.reduce((built, entry) => entry(built, document, element), {});
  const allConstant =
    values.every((value) => value.constant) && !names.some((name) => name.startsWith('$'));
  return allConstant ? constant(deepFreeze(build({}))) : dynamic(build, 'map');
}

function compileEntry(name: string, value: Compiled, context: CompileContext): Entry | undefined {
  const { evaluate } = value;
  if (!name.startsWith('$')) {
    return (built, document, element) => {
      setMember(built, name, evaluate(document, element) ?? null);
      return built;
    };
  }
  const path = readPath(name, context);
  if (path === undefined) return undefined;
  const problem = path.root === '$$' ? 'a setter cannot change $$' : unsettable(path);
  if (problem !== undefined) {
    context.report({ message: `invalid setter ${JSON.stringify(name)}: ${problem}` });
    return undefined;
  }
  if (path.segments.length === 0) return copyEntry(name, value, context);
  const set = compilePlaceSetter(path, name);
  return (built, document, element) =>
    set(built, evaluate(document, element) ?? null, document) as MutableMap;
}

/** Compiles `"$."`, which copies every member of a map. */
function copyEntry(name: string, value: Compiled, context: CompileContext): Entry | undefined {
  if (value.type !== undefined && value.type !== 'map') {
    context.report({
      message: `${name}: want a map, whose members are copied, got a ${value.type}`,
    });
    return undefined;
  }
  return (built, document, element) => {
    const copied = value.evaluate(document, element);
    if (!isJsonObject(copied))
      throw new DataError(name, 'want a map, whose members are copied', copied ?? null);
    return { ...built, ...copied };
  };
}

/** Makes a new document from another. Never changes its input; the result may share parts of it. */
export type Projection = (document: Document) => Document;

/**
 * Compiles the argument of `@project`: an expression that yields a map, or a list of such expressions. Each
 * item of a list is evaluated on the same document. The maps are merged: later values replace earlier ones,
 * and lists are appended. The projection throws DataError for a value that is not a map. dcontroller's
 * original form is equivalent: `@merge` with a list is that list; with a map it merges the map over the
 * document.
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
  if (items.length === 0) context.report({ message: '@project: want a map, or a list of maps' });
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
    context.report({ message: `@project: want a map, or a list of maps, got a ${type}` });
  }
  return (document) => map.read(evaluate(document), '@project');
}

type Map = Readonly<Record<string, unknown>>;

/**
 * Returns a map with the members of both, those of `later` over those of `earlier`. Maps in both are
 * merged too, and lists in both are appended, as dcontroller does.
 */
function mergeMaps(earlier: Map, later: Map): Map {
  const merged: Record<string, unknown> = { ...earlier };
  for (const name of Object.keys(later)) {
    const before = memberOf(earlier, name);
    const value = memberOf(later, name);
    setMember(merged, name, mergeValues(before, value));
  }
  return merged;
}

function mergeValues(before: unknown, value: unknown): unknown {
  if (isJsonObject(before) && isJsonObject(value)) return mergeMaps(before, value);
  if (Array.isArray(before) && Array.isArray(value)) return (before as unknown[]).concat(value);
  return value;
}
