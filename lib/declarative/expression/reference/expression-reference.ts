import { arithmeticReference } from './arithmetic-reference.js';
import { comparisonReference } from './comparison-reference.js';
import { listReference } from './list-reference.js';
import { logicReference } from './logic-reference.js';
import type { OperatorGroup } from './operator-reference.js';
import { conversionReference, otherReference } from './other-reference.js';
import { textReference } from './text-reference.js';

/** Every operator, as the documentation has it; a spec compares it with what there is. */
export const expressionReference: readonly OperatorGroup[] = [
  logicReference,
  comparisonReference,
  listReference,
  arithmeticReference,
  textReference,
  conversionReference,
  otherReference,
];
