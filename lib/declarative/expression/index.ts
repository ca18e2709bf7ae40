export { compileCondition, compileExpression, compileProjection } from './compile-expression.js';
export type { Projection } from './compile-expression.js';
export { DataError, isDataError } from './operands.js';
export type { Expression, ExpressionOptions } from './compiled.js';
