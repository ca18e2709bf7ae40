import type { Document } from '../../document.js';

/** An expression, and what comes of it. A spec runs every one. */
export interface ExpressionExample {
  readonly expression: unknown;
  /** What it is evaluated on. @defaultValue `{}` */
  readonly document?: Document;
  readonly result: unknown;
}

/** What the documentation says of an operator. */
export interface OperatorReference {
  readonly name: string;
  /** Other names of the same. */
  readonly aliases?: readonly string[];
  /** How it is written; `…` is more of the same, `?` what may be left out. */
  readonly forms: readonly string[];
  /** How many operands it takes; `most` is Infinity where there is no limit. */
  readonly operands: { readonly least: number; readonly most: number };
  /** What it does, what it wants, and what it makes of null. */
  readonly does: string;
  readonly examples: readonly ExpressionExample[];
}

/** Operators that belong together. */
export interface OperatorGroup {
  readonly title: string;
  readonly operators: readonly OperatorReference[];
}

/** What the documentation says of a part of the language that is no operator. */
export interface LanguageNote {
  readonly title: string;
  readonly text: string;
  readonly examples: readonly ExpressionExample[];
}

/** The time at which examples with `@now` are evaluated. */
export const timeOfExamples = '2026-01-02T03:04:05Z';
