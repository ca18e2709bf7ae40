import type { V1LabelSelector } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import { matchesLabels } from '../../object/label-selector.js';
import type { LabelSelector as SelectorObject } from '../../object/label-selector.js';
import { isOperatorError } from '../../system/operator-error.js';
import type { FieldErrors } from './field-errors.js';
import { labelValueProblems, qualifiedNameProblems } from './names.js';
import { validateLabels } from './object-meta.js';

type LabelSelector = Wire<V1LabelSelector>;

/** Checks a label selector in an object. */
export function validateLabelSelector(
  selector: LabelSelector | undefined,
  field: string,
  errors: FieldErrors,
): void {
  if (selector === undefined) return;
  validateLabels(selector.matchLabels, `${field}.matchLabels`, errors);
  for (const [index, { key, operator, values = [] }] of (
    selector.matchExpressions ?? []
  ).entries()) {
    const path = `${field}.matchExpressions[${index}]`;
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) {
        errors.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
      }
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) {
        const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
        errors.forbidden(`${path}.values`, why);
      }
    } else {
      errors.invalid(`${path}.operator`, operator, 'not a valid selector operator');
    }
    for (const problem of qualifiedNameProblems(key)) errors.invalid(`${path}.key`, key, problem);
    for (const [at, value] of values.entries()) {
      for (const problem of labelValueProblems(value)) {
        errors.invalid(`${path}.values[${at}]`, value, problem);
      }
    }
  }
}

/** Returns whether a selector has no condition and so selects everything. */
export function isEmptySelector({ matchLabels, matchExpressions }: LabelSelector): boolean {
  return Object.keys(matchLabels ?? {}).length + (matchExpressions ?? []).length === 0;
}

/**
 * Returns whether a selector selects `labels`. A missing selector selects nothing.
 * @returns undefined: the selector is invalid, which other checks report
 */
export function selects(
  selector: SelectorObject | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): boolean | undefined {
  try {
    return matchesLabels(selector, labels ?? {});
  } catch (error) {
    if (isOperatorError(error, 'InvalidSelector')) return undefined;
    throw error;
  }
}
