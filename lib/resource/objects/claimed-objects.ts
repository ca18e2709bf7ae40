import { refId } from '../../apply/index.js';
import { describeObject } from '../../object/describe-object.js';
import type { ObjectReference } from '../../object/object-reference.js';
import { OperatorError } from '../../system/operator-error.js';
import { contextKey } from '../context-key.js';
import type { ResourceContext } from '../resource-context.js';

/** The resource of this reconcile that desires each object, by the object's id. */
const claims = contextKey<Map<string, string>>('the objects that resources of this pass keep');

/**
 * Claims these objects for `resource`.
 * @throws OperatorError `DuplicateObject`: another resource of this reconcile desires one of them too; both
 * would overwrite it in every reconcile.
 */
export function claimObjects(
  context: ResourceContext,
  resource: string,
  refs: readonly ObjectReference[],
): void {
  const claimed = context.get(claims) ?? new Map<string, string>();
  context.set(claims, claimed);
  for (const ref of refs) {
    const id = refId(ref);
    const other = claimed.get(id) ?? resource;
    if (other !== resource) {
      const message = `${describeObject(ref)} is desired by the resources ${other} and ${resource}: let one of them keep it`;
      throw new OperatorError('DuplicateObject', message);
    }
    claimed.set(id, resource);
  }
}
