export { compileCondition, compileExpression } from './compile-expression.js';
export { compileProjection } from './compile-projection.js';
export type { Projection } from './compile-projection.js';
export { DataError, isDataError } from './data-error.js';
export type { Expression } from './expression.js';
export type { ExpressionOptions } from './expression-options.js';
export { expressionReference } from './reference/expression-reference.js';
export { languageNotes } from './reference/language-notes.js';
export { timeOfExamples } from './reference/operator-reference.js';
export type {
  ExpressionExample,
  LanguageNote,
  OperatorGroup,
  OperatorReference,
} from './reference/operator-reference.js';
