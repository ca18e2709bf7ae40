export { compileCondition, compileExpression } from './compile-expression.js';
export { compileProjection } from './compile-projection.js';
export type { Projection } from './compile-projection.js';
export { DataError, isDataError } from './data-error.js';
export type { Expression } from './expression.js';
export type { ExpressionOptions } from './expression-options.js';
