import type { ObjectMeta } from '../../object/kubernetes-object.js';
import { badRequest } from '../status-error.js';

/**
 * Checks that the body of a write to the object `name` has that name.
 * @throws StatusError 400: the body has no name, or another name.
 */
export function checkName(name: string, metadata: ObjectMeta): void {
  const { name: given = '' } = metadata;
  if (given === '') {
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (given !== name) {
    throw badRequest(
      `the name of the object (${given}) does not match the name on the URL (${name})`,
    );
  }
}
