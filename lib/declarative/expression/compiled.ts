import type { Clock } from '../../system/clock.js';
import type { Random } from '../../system/random.js';
import type { CompileContext } from '../spec-problem.js';
import type { Expression } from './expression.js';

/** The types of JSON values. */
export type ValueType = 'null' | 'boolean' | 'number' | 'string' | 'list' | 'map';

/** A compiled part of an expression. */
export interface Compiled {
  readonly evaluate: Expression;
  /** Whether it has the same value for every document; it was then evaluated at load. */
  readonly constant: boolean;
  /** The type of its value, if known at load. */
  readonly type: ValueType | undefined;
  /** Whether it has a reported problem; it is then never evaluated, and causes no further reports. */
  readonly failed: boolean;
}

/** Compiles the parts of an expression; passed to the operators. */
export interface Compiler {
  readonly clock: Clock;
  readonly random: Random;
  /** Whether an element, `$$`, exists here. */
  readonly hasElement: boolean;
  /** The same compiler, for a scope with an element. */
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
  /** Compiles `argument`, and reports its problems to the site's context. */
  readonly compile: (argument: unknown, site: Site) => Compiled;
}

/** The result of compiling a part with a problem. */
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

/** Returns a part with the constant `value`. */
export function constant(value: unknown): Compiled {
  return { evaluate: () => value, constant: true, type: typeOf(value), failed: false };
}

/** Returns the type of a JSON value; undefined counts as null. */
export function typeOf(value: unknown): ValueType {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'object') return 'map';
  if (typeof value === 'number' || typeof value === 'boolean') {
    return typeof value as 'number' | 'boolean';
  }
  return 'string';
}
