import { arithmeticReference } from './arithmetic-reference.js';
import { comparisonReference } from './comparison-reference.js';
import { listReference } from './list-reference.js';
import { logicReference } from './logic-reference.js';
import type { OperatorGroup } from './operator-reference.js';
import { conversionReference, otherReference } from './other-reference.js';
import { textReference } from './text-reference.js';

/** All operators of the documentation; a spec compares them with the implemented ones. */
export const expressionReference: readonly OperatorGroup[] = [
  logicReference,
  comparisonReference,
  listReference,
  arithmeticReference,
  textReference,
  conversionReference,
  otherReference,
];
