import { goText, goTypeOf, isJsonObject } from '../../object/index.js';
import type { FieldErrors } from './field-errors.js';

const maxInt32 = 2 ** 31 - 1;

/** Paths of an object's replica counts, for example `.spec.replicas`. */
export interface ReplicasPaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
}

/** Checks the desired replica count of a custom resource with a scale subresource. */
export function validateScaleSpec(
  object: object,
  scale: ReplicasPaths | undefined,
  errors: FieldErrors,
): void {
  if (scale !== undefined) validateReplicas(object, scale.specReplicasPath, errors);
}

/** Checks the observed replica count of a custom resource with a scale subresource. */
export function validateScaleStatus(
  object: object,
  scale: ReplicasPaths | undefined,
  errors: FieldErrors,
): void {
  if (scale !== undefined) validateReplicas(object, scale.statusReplicasPath, errors);
}

function validateReplicas(object: object, path: string, errors: FieldErrors): void {
  const names = path.replace(/^\./, '').split('.');
  let replicas: unknown = object;
  for (const name of names) {
    if (replicas === null) return;
    if (!isJsonObject(replicas)) {
      const found = `${goText(replicas)} is of the type ${goTypeOf(replicas)}, expected map[string]interface{}`;
      errors.invalid(path, 0, `.${names.join('.')} accessor error: ${found}`);
      return;
    }
    replicas = replicas[name];
    if (replicas === undefined) return;
  }
  if (typeof replicas !== 'number' || !Number.isInteger(replicas)) {
    const found = `${goText(replicas)} is of the type ${goTypeOf(replicas)}, expected int64`;
    errors.invalid(path, 0, `.${names.join('.')} accessor error: ${found}`);
  } else if (replicas < 0) {
    errors.invalid(path, replicas, 'should be a non-negative integer');
  } else if (replicas > maxInt32) {
    errors.invalid(path, replicas, `should be less than or equal to ${maxInt32}`);
  }
}
