import type { ScaleDefinition } from '../definition/resource-definition.js';
import { goText, goTypeOf, isJsonObject } from '../../object/index.js';
import type { FieldErrors } from './field-errors.js';

const maxInt32 = 2 ** 31 - 1;

/** Checks the desired replica count of a custom resource with a scale subresource. */
export function validateScaleSpec(
  object: object,
  scale: ScaleDefinition | undefined,
  errors: FieldErrors,
): void {
  if (scale !== undefined) validateReplicas(object, scale.specReplicasPath, errors);
}

/** Checks the observed replica count and the selector of a custom resource with a scale subresource. */
export function validateScaleStatus(
  object: object,
  scale: ScaleDefinition | undefined,
  errors: FieldErrors,
): void {
  if (scale === undefined) return;
  const { statusReplicasPath, labelSelectorPath } = scale;
  validateReplicas(object, statusReplicasPath, errors);
  if (labelSelectorPath !== undefined) validateSelector(object, labelSelectorPath, errors);
}

function validateReplicas(object: object, path: string, errors: FieldErrors): void {
  const { value: replicas, problem } = valueAt(object, path);
  if (problem !== undefined) errors.invalid(path, 0, problem);
  else if (replicas === undefined) return;
  else if (typeof replicas !== 'number' || !Number.isInteger(replicas)) {
    errors.invalid(path, 0, accessorProblem(path, replicas, 'int64'));
  } else if (replicas < 0) {
    errors.invalid(path, replicas, 'should be a non-negative integer');
  } else if (replicas > maxInt32) {
    errors.invalid(path, replicas, `should be less than or equal to ${maxInt32}`);
  }
}

function validateSelector(object: object, path: string, errors: FieldErrors): void {
  const { value: selector, problem } = valueAt(object, path);
  if (problem !== undefined) errors.invalid(path, '', problem);
  else if (selector !== undefined && typeof selector !== 'string') {
    errors.invalid(path, '', accessorProblem(path, selector, 'string'));
  }
}

/** Returns a value, undefined if it is absent, or the problem of a part that is not an object. */
function valueAt(object: object, path: string): { value?: unknown; problem?: string } {
  let value: unknown = object;
  for (const name of namesOf(path)) {
    if (value === null || value === undefined) return {};
    if (!isJsonObject(value)) {
      return { problem: accessorProblem(path, value, 'map[string]interface{}') };
    }
    value = value[name];
  }
  return { value };
}

function accessorProblem(path: string, value: unknown, expected: string): string {
  const found = `${goText(value)} is of the type ${goTypeOf(value)}, expected ${expected}`;
  return `.${namesOf(path).join('.')} accessor error: ${found}`;
}

function namesOf(path: string): readonly string[] {
  return path.replace(/^\./, '').split('.');
}
