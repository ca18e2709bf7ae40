import { expect } from 'chai';
import { compileExpression } from '../../../lib/declarative/expression/compile-expression.js';
import { type DataError, isDataError } from '../../../lib/declarative/expression/operands.js';
import type { ExpressionOptions } from '../../../lib/declarative/expression/compiled.js';
import {
  compileContext,
  formatSpecPath,
  type SpecProblem,
} from '../../../lib/declarative/spec-problem.js';
import { deepFreeze } from '../../../lib/object/deep-freeze.js';

/** Evaluates an expression on a document, which is frozen. */
export function evaluate(
  source: unknown,
  document: Readonly<Record<string, unknown>> = {},
  options: ExpressionOptions = {},
): unknown {
  const problems: SpecProblem[] = [];
  const expression = compileExpression(source, compileContext(problems), options);
  expect(problems).to.deep.equal([]);
  return expression(deepFreeze(document));
}

/** Returns the problems of an expression, each as `path: message (suggestion)`. */
export function problemsOf(source: unknown): string[] {
  const problems: SpecProblem[] = [];
  compileExpression(source, compileContext(problems));
  return problems.map(({ path, message, suggestion }) => {
    const meant = suggestion === undefined ? '' : ` (${suggestion})`;
    return `${formatSpecPath(path)}: ${message}${meant}`;
  });
}

/** Returns the error of an expression on a document. */
export function dataErrorOf(
  source: unknown,
  document: Readonly<Record<string, unknown>> = {},
  options: ExpressionOptions = {},
): DataError {
  try {
    evaluate(source, document, options);
  } catch (error) {
    if (isDataError(error)) return error;
    throw error;
  }
  return expect.fail(`${JSON.stringify(source)} is fine`);
}
