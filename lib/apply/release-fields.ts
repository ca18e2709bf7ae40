import type { Client } from '../client/client.js';
import { fieldPath } from '../object/field-path.js';
import { FieldSet } from '../object/field-set.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { appliedFields } from '../object/managed-fields.js';
import type { ApplyContext } from './context.js';
import type { DesiredObject, Pair } from './desired-object.js';
import { appliedHashAnnotation } from './marks.js';

// Whom the server gives all fields of an object without managers to, when it is first applied.
const nobody = 'before-first-apply';
const appliedHashPath = fieldPath('metadata', 'annotations', appliedHashAnnotation);

/** An object before and after it was applied. */
export interface Reapplied {
  readonly desired: DesiredObject;
  readonly before: UnstructuredObject;
  readonly after: UnstructuredObject;
}

/** Whether `live` was applied by us, and does not say any more which fields are ours. */
export function hasLostManagers(live: UnstructuredObject, manager: string): boolean {
  const { annotations = {} } = live.metadata;
  return annotations[appliedHashAnnotation] !== undefined && !appliedFields(live, manager);
}

/**
 * Makes the applied fields ours alone where somebody had cleared `managedFields` after we had applied:
 * at the next apply the server gives what was there to `before-first-apply`, so that a field that we
 * drop would stay for ever. What else that entry holds may be others', and is left in it.
 *
 * It goes by what the entry holds, not by what an apply has just found: whoever is stopped between the
 * two finds it at the next start.
 * @returns the object as it is afterwards
 */
export async function releaseFields(
  context: ApplyContext,
  { desired, live }: Pair,
): Promise<UnstructuredObject> {
  const { controllerName, signal } = context.settings;
  const { managedFields = [], resourceVersion } = live.metadata;
  const index = managedFields.findIndex(
    ({ manager, operation, subresource = '' }) =>
      manager === nobody && operation === 'Update' && subresource === '',
  );
  const entry = managedFields[index];
  const ours = appliedFields(live, controllerName);
  if (entry === undefined || ours === undefined) return live;
  const all = FieldSet.fromFieldsV1(entry.fieldsV1 ?? {});
  // An object that nobody had applied before has the entry, too, but not with our annotation.
  if (!all.has(appliedHashPath)) return live;
  const rest = all.difference(ours);
  const kept = { ...entry, fieldsV1: rest.toFieldsV1() };
  const isLeft = !rest.equals(FieldSet.empty);
  const value = managedFields.toSpliced(index, 1, ...(isLeft ? [kept] : []));
  // With the version: what was taken apart must be what is there, or the patch is a conflict.
  const operations = [
    { op: 'replace', path: '/metadata/managedFields', value },
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
  ] as const;
  context.announce(desired.ref, { cause: 'its managedFields had been cleared' });
  const options = { fieldManager: controllerName, signal };
  const { type, ref } = desired;
  const patched = await context.client.patch(type, ref, { type: 'json', operations }, options);
  return patched as UnstructuredObject;
}

// Each kind once, for whoever has one client for a long time: a chain is made anew for each reconcile.
const warned = new WeakMap<Client, Set<string>>();

/**
 * Warns where an apply changed nothing because the object was read without its managers, as from a
 * cache that drops them: every reconcile would then apply again.
 */
export function warnOfDroppedManagers(
  { settings }: ApplyContext,
  { desired, before, after }: Reapplied,
): void {
  const { client, controllerName, logger } = settings;
  if (!hasLostManagers(before, controllerName)) return;
  // Had somebody cleared them on the server, the apply would have made a new version.
  if (before.metadata.resourceVersion !== after.metadata.resourceVersion) return;
  const kinds = warned.get(client) ?? new Set();
  warned.set(client, kinds);
  const { kind } = desired.ref;
  if (kinds.has(kind)) return;
  kinds.add(kind);
  logger.warn(
    `${kind} is read without managedFields, so every reconcile applies it again: let the controller own the kind with owns(), or make its informer with keepManagedFields`,
    { kind },
  );
}
