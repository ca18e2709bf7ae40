import type { OperatorDefinition } from '../compiled.js';
import { arithmeticOperators } from './arithmetic.js';
import { comparisonOperators } from './comparison.js';
import { conversionOperators } from './conversion.js';
import { listOperators } from './lists.js';
import { logicOperators } from './logic.js';
import { otherOperators } from './others.js';
import { setOperator } from './set.js';
import { textOperators } from './texts.js';

/** Names from other languages whose operator is not the nearest name. */
export const namesElsewhere: ReadonlyMap<string, string> = new Map([
  ['@neq', '@ne'],
  ['@if', '@cond'],
  ['@length', '@len'],
  ['@default', '@definedOr'],
  ['@coalesce', '@definedOr'],
  ['@nil', '@isnil'],
]);

/** All operators, by name. */
export const operators: ReadonlyMap<string, OperatorDefinition> = new Map(
  [
    ...conversionOperators,
    ...logicOperators,
    ...comparisonOperators,
    ...listOperators,
    ...arithmeticOperators,
    ...textOperators,
    setOperator,
    ...otherOperators,
  ].map((definition) => [definition.name, definition]),
);
