import { OperatorError } from '../../system/operator-error.js';

/** What is said of a kustomization that can't be built: of a file, and what is wrong with it. */
export function kustomizationError(file: string, problem: string, cause?: unknown): OperatorError {
  return new OperatorError('InvalidConfig', `${file}: ${problem}`, { cause });
}

/** What is said of a field that kustomize knows and this build does not. */
export function unsupportedField(folder: string, file: string, field: string): OperatorError {
  const remedy = `this build of kustomizations has no such field: use kubectl kustomize ${folder}`;
  return kustomizationError(file, `${field} is not supported (${remedy})`);
}
