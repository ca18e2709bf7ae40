import { expect } from 'chai';
import { compileExpression } from '../../../lib/declarative/expression/compile-expression.js';
import { type DataError, isDataError } from '../../../lib/declarative/expression/data-error.js';
import type { ExpressionOptions } from '../../../lib/declarative/expression/expression-options.js';
import {
  compileContext,
  formatSpecPath,
  type SpecProblem,
} from '../../../lib/declarative/spec-problem.js';
import { deepFreeze } from '../../../lib/object/deep-freeze.js';

/** What an expression is for a document; the document is frozen. */
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

/** What is wrong with an expression, each as `path: message (suggestion)`. */
export function problemsOf(source: unknown): string[] {
  const problems: SpecProblem[] = [];
  compileExpression(source, compileContext(problems));
  return problems.map(({ path, message, suggestion }) => {
    const meant = suggestion === undefined ? '' : ` (${suggestion})`;
    return `${formatSpecPath(path)}: ${message}${meant}`;
  });
}

/** The error that a document is for an expression. */
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
