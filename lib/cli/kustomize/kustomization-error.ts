import { OperatorError } from '../../system/operator-error.js';

/** Returns the error of a kustomization that can't be built: the file and the problem. */
export function kustomizationError(file: string, problem: string, cause?: unknown): OperatorError {
  return new OperatorError('InvalidConfig', `${file}: ${problem}`, { cause });
}

/** Returns the error of a kustomize field that this build does not support. */
export function unsupportedField(folder: string, file: string, field: string): OperatorError {
  const remedy = `this build of kustomizations has no such field: use kubectl kustomize ${folder}`;
  return kustomizationError(file, `${field} is not supported (${remedy})`);
}
