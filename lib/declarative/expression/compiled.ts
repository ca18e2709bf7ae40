import type { Clock } from '../../system/clock.js';
import type { Random } from '../../system/random.js';
import type { CompileContext } from '../spec-problem.js';
import type { Expression } from './expression.js';

/** The kinds of JSON values. */
export type ValueType = 'null' | 'boolean' | 'number' | 'string' | 'list' | 'map';

/** A part of an expression, compiled. */
export interface Compiled {
  readonly evaluate: Expression;
  /** Whether it is the same for every document: it was evaluated at load. */
  readonly constant: boolean;
  /** What kind of value it has, where that is known at load. */
  readonly type: ValueType | undefined;
  /** Whether a problem was reported in it: nothing more is said of it, and it never runs. */
  readonly failed: boolean;
}

/** What compiles the parts of an expression; handed to the operators. */
export interface Compiler {
  readonly clock: Clock;
  readonly random: Random;
  /** Whether there is an element, `$$`. */
  readonly hasElement: boolean;
  /** The same where there is one. */
  readonly withElement: Compiler;
  compile(source: unknown, context: CompileContext): Compiled;
}

/** Where an operator stands. */
export interface Site {
  /** As it is written, for example `@has`. */
  readonly name: string;
  readonly compiler: Compiler;
  /** The place of its argument. */
  readonly context: CompileContext;
}

/** How an operator is compiled. */
export interface OperatorDefinition {
  readonly name: string;
  /** Reports what is wrong with `argument` to the site's context. */
  readonly compile: (argument: unknown, site: Site) => Compiled;
}

/** What is compiled of a part with a problem. */
export const failed: Compiled = {
  evaluate: () => null,
  constant: false,
  type: undefined,
  failed: true,
};

/** A part that depends on the document. */
export function dynamic(evaluate: Expression, type?: ValueType): Compiled {
  return { evaluate, constant: false, type, failed: false };
}

/** A part that is always `value`. */
export function constant(value: unknown): Compiled {
  return { evaluate: () => value, constant: true, type: typeOf(value), failed: false };
}

/** The kind of a JSON value; undefined counts as null. */
export function typeOf(value: unknown): ValueType {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'object') return 'map';
  if (typeof value === 'number' || typeof value === 'boolean') {
    return typeof value as 'number' | 'boolean';
  }
  return 'string';
}
