import { FieldSet } from '../../object/field-set.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { checkType } from './check-type.js';
import { writerOf } from './field-manager-options.js';
import type { FieldManagerRequest } from './field-manager-options.js';
import { capUpdaters, ownerId } from './managers.js';
import type { Owner, Owners } from './managers.js';
import { neverOwned } from './never-owned.js';
import { trackUpdate } from './updater.js';

/** A change to track. The objects have no `managedFields`. */
export interface Tracked {
  readonly live: UnstructuredObject;
  readonly next: UnstructuredObject;
  readonly owners: Owners;
}

/**
 * Returns the owners of fields after a change by `request.manager` other than apply.
 * @throws TypedConversionError the objects do not fit their schema.
 */
export function track({ live, next, owners }: Tracked, request: FieldManagerRequest): Owners {
  const { versions, filter, time } = request;
  const { atom } = versions.own;
  for (const [object, which] of [
    [next, 'new'],
    [live, 'live'],
  ] as const) {
    const doing = (name: string) => `failed to convert ${which} object (${name}) to smd typed`;
    checkType(object, atom, { allowDuplicates: true, doing });
  }
  const writer = writerOf(request, 'Update');
  const found = trackUpdate({ live, next, owners, writer, versions, filter });
  const changed = found.changed.difference(neverOwned);
  if (changed.isEmpty) return capUpdaters(found.owners);
  const id = ownerId(writer);
  const set = changed.union(found.owners.get(id)?.set ?? FieldSet.empty);
  const now = sameOwner(owners.get(id), { ...writer, set, time });
  return capUpdaters(new Map(found.owners).set(id, now));
}

/** Returns `last` if it equals `now`, so that an unchanged entry keeps its encoding; else `now`. */
export function sameOwner(last: Owner | undefined, now: Owner): Owner {
  const same =
    last?.apiVersion === now.apiVersion && last.time === now.time && last.set.equals(now.set);
  return same ? last : now;
}
