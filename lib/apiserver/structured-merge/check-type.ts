import type { TypeMeta, UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Atom } from './atom.js';
import { metadataOf } from './managed-fields-list.js';
import { throwProblems } from './type-problems.js';
import { validateValue } from './validate-value.js';
import type { ValidateOptions } from './validate-value.js';

/** Options of {@link checkType}. */
export interface CheckTypeOptions extends ValidateOptions {
  /**
   * Returns the start of the error message.
   * @param object - The object as the server names it.
   */
  readonly doing: (object: string) => string;
}

/**
 * Checks that `object` fits `atom`.
 * @throws TypedConversionError `object` does not fit `atom`.
 */
export function checkType(object: UnstructuredObject, atom: Atom, options: CheckTypeOptions): void {
  const problems = validateValue(object, atom, options);
  if (problems.length > 0) throwProblems(problems, options.doing(objectText(object)));
}

/** Returns a kind as the server writes it in messages: `/v1, Kind=ConfigMap`. */
export function kindText(object: Partial<TypeMeta>): string {
  // A body applied to a Scale may lack both.
  const { apiVersion = '', kind = '' } = object;
  const groupVersion = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  return `${groupVersion}, Kind=${kind}`;
}

// Returns an object as the server names it in these messages.
function objectText(object: UnstructuredObject): string {
  const { namespace = '', name = '' } = metadataOf(object);
  return `${namespace}/${name}; ${kindText(object)}`;
}
