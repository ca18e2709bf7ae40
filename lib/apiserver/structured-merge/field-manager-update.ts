import type { ManagedFieldsEntry, UnstructuredObject } from '../../object/kubernetes-object.js';
import { isOperatorError } from '../../system/operator-error.js';
import { emptyObject, resolveFieldManagerOptions } from './field-manager-options.js';
import type { FieldManagerOptions, FieldManagerRequest } from './field-manager-options.js';
import { metadataOf, withManagedFields, withoutManagedFields } from './managed-fields-list.js';
import { encodeOwners, ownersOfRequest, ownersOfStored } from './managers.js';
import type { Owners } from './managers.js';
import { track } from './track.js';

/**
 * Records the owners of fields after a create, an update or a patch other than apply. `manager`
 * becomes the only owner of the fields that `next` adds or changes; fields that `next` removes lose
 * all owners.
 *
 * Valid `managedFields` in `next` replace those of `live`, because a client may edit them. `[]` and
 * `[{}]` clear them and stop the tracking until the next apply. Writes through a subresource cannot
 * change them. Call this function after defaulting and before mutating admission. It never throws:
 * an object that does not fit `schema` loses its `managedFields`, as on the real server.
 * @param live - The stored object, or `undefined` for a create.
 * @param next - The whole object to store, with defaults.
 * @returns `next` with its `managedFields`; `next` itself does not change.
 */
export function fieldManagerUpdate(
  live: UnstructuredObject | undefined,
  next: UnstructuredObject,
  options: FieldManagerOptions,
): UnstructuredObject {
  const request = resolveFieldManagerOptions(options);
  const base = live ?? emptyObject(request, next);
  const bare = withoutManagedFields(next);
  const owners = ownersOf(base, next, request);
  // A client cleared them: the server tracks nothing until the next apply.
  if (owners.size === 0 && live !== undefined) return bare;
  try {
    const tracked = track({ live: withoutManagedFields(base), next: bare, owners }, request);
    return withManagedFields(bare, encodeOwners(tracked));
  } catch (error) {
    if (!isOperatorError(error)) throw error;
    return bare;
  }
}

function ownersOf(
  live: UnstructuredObject,
  next: UnstructuredObject,
  request: FieldManagerRequest,
): Owners {
  const { managedFields: sent } = metadataOf(next);
  const { managedFields: stored } = metadataOf(live);
  if (request.subresource !== '' || sent === undefined || sent === null || sent === stored) {
    return ownersOfStored(stored);
  }
  if (isReset(sent)) return new Map();
  try {
    return ownersOfRequest(sent);
  } catch (error) {
    // An invalid entry: the client does not understand managedFields.
    if (!isOperatorError(error)) throw error;
    return ownersOfStored(stored);
  }
}

function isReset(sent: readonly ManagedFieldsEntry[]): boolean {
  const [first] = sent;
  return first === undefined || (sent.length === 1 && Object.keys(first).length === 0);
}
