import type { ManagedFieldsEntry, UnstructuredObject } from '../../object/kubernetes-object.js';
import { isOperatorError } from '../../system/operator-error.js';
import { emptyObject, resolveFieldManagerOptions } from './field-manager-options.js';
import type { FieldManagerOptions, FieldManagerRequest } from './field-manager-options.js';
import { metadataOf, withManagedFields, withoutManagedFields } from './managed-fields-list.js';
import { encodeOwners, ownersOfRequest, ownersOfStored } from './managers.js';
import type { Owners } from './managers.js';
import { track } from './track.js';

/**
 * Records who owns what after a create, an update or a patch other than apply: what `next` adds or
 * changes belongs to `manager` and to nobody else, what it removes to nobody.
 *
 * `managedFields` in `next` replace the live ones where they are valid (a client may edit them);
 * `[]` and `[{}]` clear them, and then nothing is tracked any more until an apply. Through a
 * subresource they are ignored. Call it after defaulting and before mutating admission. It never
 * fails: an object that does not fit `schema` loses its `managedFields`, as in the real server.
 * @param live - The stored object, or `undefined` for a create.
 * @param next - The whole object as it is to be stored, with defaults.
 * @returns `next` with its `managedFields`; `next` itself is not changed.
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
  // Somebody has cleared them: nothing is tracked until the next apply.
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
    // Not what an entry may be: the client does not understand managedFields.
    if (!isOperatorError(error)) throw error;
    return ownersOfStored(stored);
  }
}

function isReset(sent: readonly ManagedFieldsEntry[]): boolean {
  const [first] = sent;
  return first === undefined || (sent.length === 1 && Object.keys(first).length === 0);
}
