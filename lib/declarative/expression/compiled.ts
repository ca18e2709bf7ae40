import { deepFreeze, isJsonObject } from '../../object/index.js';
import { systemClock, systemRandom } from '../../system/index.js';
import type { Clock, Random, Resolved } from '../../system/index.js';
import type { Document } from '../document.js';
import type { CompileContext } from '../spec-problem.js';

/** The types of JSON values. */
export type ValueType = 'null' | 'boolean' | 'number' | 'string' | 'list' | 'map';

/** A compiled part of an expression. */
export interface Compiled {
  readonly evaluate: Expression;
  /** Whether the part has the same value for every document; it was then evaluated at load. */
  readonly constant: boolean;
  /** The type of the part's value, if known at load. */
  readonly type: ValueType | undefined;
  /** Whether the part has a reported problem; it is then never evaluated, and causes no further reports. */
  readonly failed: boolean;
}

/** Compiles the parts of an expression; passed to the operators. */
export interface Compiler {
  readonly clock: Clock;
  readonly random: Random;
  /** Whether an element, `$$`, exists here. */
  readonly hasElement: boolean;
  /** The compiler for expressions in which `$$`, the current element of a list, exists. */
  readonly withElement: Compiler;
  compile(source: unknown, context: CompileContext): Compiled;
}

/** The place of an operator. */
export interface Site {
  /** The name as written, for example `@has`. */
  readonly name: string;
  readonly compiler: Compiler;
  /** The context of its argument. */
  readonly context: CompileContext;
}

/** The definition of an operator. */
export interface OperatorDefinition {
  readonly name: string;
  /** Compiles `argument`, and reports its problems to `site.context`. */
  readonly compile: (argument: unknown, site: Site) => Compiled;
}

/** Stands for a part of an expression that has a problem. */
export const failed: Compiled = {
  evaluate: () => null,
  constant: false,
  type: undefined,
  failed: true,
};

/** Returns a part that depends on the document. */
export function dynamic(evaluate: Expression, type?: ValueType): Compiled {
  return { evaluate, constant: false, type, failed: false };
}

export function constant(value: unknown): Compiled {
  return { evaluate: () => value, constant: true, type: typeOf(value), failed: false };
}

/** Returns the type of a JSON value; undefined counts as null. */
function typeOf(value: unknown): ValueType {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'object') return 'map';
  if (typeof value === 'number' || typeof value === 'boolean') {
    return typeof value as 'number' | 'boolean';
  }
  return 'string';
}

/** Compiles a literal value without evaluating its content. Reports values that are not JSON. */
export function compileLiteral(source: unknown, context: CompileContext): Compiled {
  const found: { problem: boolean } = { problem: false };
  const copy = copyOf(source, context, found);
  return found.problem ? failed : constant(deepFreeze(copy));
}

// Copy, because the compiled value is frozen and the source belongs to the caller.
function copyOf(source: unknown, context: CompileContext, found: { problem: boolean }): unknown {
  if (source === null || typeof source === 'boolean' || typeof source === 'string') return source;
  if (typeof source === 'number' && Number.isFinite(source)) return source;
  if (Array.isArray(source)) {
    return source.map((item, index) => copyOf(item, context.at(index), found));
  }
  if (isJsonObject(source)) {
    const members = Object.entries(source).map(
      ([name, value]) => [name, copyOf(value, context.at(name), found)] as const,
    );
    return Object.fromEntries(members);
  }
  context.report({ message: `want JSON, got ${describe(source)}` });
  found.problem = true;
  return null;
}

function describe(source: unknown): string {
  return typeof source === 'number' || typeof source === 'bigint'
    ? String(source)
    : `a value of type ${typeof source}`;
}

/**
 * A compiled expression, made of closures. It never changes its input; its result may share parts of the
 * input.
 * @param document - the value of `$`
 * @param element - the value of `$$`, within `@map`, `@filter`, `@any`, `@all` and `@none`
 * @throws DataError the data does not fit: an operand has a wrong type.
 */
export type Expression = (document: Document, element?: unknown) => unknown;

/** Options of {@link compileExpression} and related functions. */
export interface ExpressionOptions {
  /** Clock of `@now`. @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** Source of randomness of `@rnd`. @defaultValue the system's random source */
  readonly random?: Random | undefined;
  /**
   * Whether data errors include the value that did not fit; false if it may be data of a Secret.
   * @defaultValue true
   */
  readonly showValues?: boolean | undefined;
}

/** Fills in the defaults. */
export function resolveExpressionOptions(options: ExpressionOptions): Resolved<ExpressionOptions> {
  const { clock = systemClock, random = systemRandom, showValues = true } = options;
  return { clock, random, showValues };
}
