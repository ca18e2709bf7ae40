import type { Document } from '../../../lib/declarative/index.js';

/** An expression and its result. A spec runs every example. */
export interface ExpressionExample {
  readonly expression: unknown;
  /** The input document. @defaultValue `{}` */
  readonly document?: Document;
  readonly result: unknown;
}

/** The documentation of an operator. */
export interface OperatorReference {
  readonly name: string;
  /** Aliases of the operator. */
  readonly aliases?: readonly string[];
  /** The written forms; `…` stands for repetition, `?` for an optional part. */
  readonly forms: readonly string[];
  /** Number of operands; `most` is Infinity for no limit. */
  readonly operands: { readonly least: number; readonly most: number };
  /** Description: effect, accepted operands, and treatment of null. */
  readonly does: string;
  readonly examples: readonly ExpressionExample[];
}

/** A group of related operators. */
export interface OperatorGroup {
  readonly title: string;
  readonly operators: readonly OperatorReference[];
}

/** The documentation of a part of the language that is not an operator. */
export interface LanguageNote {
  readonly title: string;
  readonly text: string;
  readonly examples: readonly ExpressionExample[];
}

/** The time at which examples with `@now` are evaluated. */
export const timeOfExamples = '2026-01-02T03:04:05Z';
