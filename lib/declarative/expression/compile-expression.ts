import { deepFreeze } from '../../object/deep-freeze.js';
import { isJsonObject } from '../../object/json.js';
import type { Document } from '../document.js';
import type { CompileContext } from '../spec-problem.js';
import { type Compiled, type Compiler, constant, dynamic, failed } from './compiled.js';
import { compileLiteral } from './compile-literal.js';
import { compileMap } from './compile-map.js';
import { compileGetter } from './compile-path.js';
import { isDataError } from './data-error.js';
import type { Expression } from './expression.js';
import { type ExpressionOptions, resolveExpressionOptions } from './expression-options.js';
import { nearestName } from '../../system/known-options.js';
import { condition } from './operands.js';
import { compileNow } from './operators/others.js';
import { namesElsewhere, operators } from './operators/operators.js';

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
 * Compiles an expression that yields true or false. Another type is a reported problem if known at load, else
 * a DataError.
 * @param operation - the caller's name for messages, for example `@select`
 */
export function compileCondition(
  source: unknown,
  context: CompileContext,
  { operation, ...options }: ExpressionOptions & { readonly operation: string },
): (document: Document, element?: unknown) => boolean {
  const { evaluate, type } = compilePart(source, context, options);
  if (type !== undefined && type !== 'boolean') {
    context.report({ message: `${operation} wants true or false, not a ${type}` });
  }
  const run: Expression = (document, element) =>
    condition.read(evaluate(document, element), operation);
  return guarded(run, options) as (document: Document, element?: unknown) => boolean;
}

/** Compiles an expression, with the facts known at load. */
export function compilePart(
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

/** Removes values from data errors if `showValues` is false. */
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
    const message = `an operator stands alone in its map, here are ${names.join(', ')}`;
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
