import type { FieldChange } from '../object/diff-by-path.js';
import { pathToString } from '../object/field-path.js';
import { FieldSet } from '../object/field-set.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { adoptManagedFields } from '../object/managed-fields.js';
import { redactChanges } from '../object/redact.js';
import { valueAtPath } from '../object/value-at-path.js';
import type { ApplyContext } from './context.js';
import type { Pair } from './desired-object.js';

/**
 * Makes ours what `adoptManagers` have written by create and update. Without it a field that we no
 * longer desire would stay for ever, for they own it too.
 * @returns the live object as it is afterwards; costs a write only where there is something to adopt
 */
export async function adoptFields(
  { client, settings }: ApplyContext,
  { desired, live }: Pair,
): Promise<UnstructuredObject> {
  const { controllerName, adoptManagers: managers, signal } = settings;
  const { managedFields, resourceVersion } = live.metadata;
  const adopted = adoptManagedFields(managedFields, { managers, into: controllerName });
  if (adopted === undefined) return live;
  // With the version: what was merged must be what is there, or the patch is a conflict.
  const operations = [
    { op: 'replace', path: '/metadata/managedFields', value: adopted },
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
  ] as const;
  const { type, ref } = desired;
  const options = { fieldManager: controllerName, signal };
  const patched = await client.patch(type, ref, { type: 'json', operations }, options);
  return patched as UnstructuredObject;
}

/**
 * The fields that adopting would bring us and that `desired` does not have, so that they go away.
 * @returns undefined where there is nothing to adopt
 */
export function adoptedRemovals(
  { desired, live }: Pair,
  managers: readonly string[],
): readonly FieldChange[] | undefined {
  const adopted = (live.metadata.managedFields ?? []).filter(
    ({ operation, manager = '', subresource = '' }) =>
      operation === 'Update' && subresource === '' && managers.includes(manager),
  );
  if (adopted.length === 0) return undefined;
  const leaves = adopted.flatMap(({ fieldsV1 = {} }) =>
    FieldSet.fromFieldsV1(fieldsV1).leaves().paths(),
  );
  const gone = leaves.filter((path) => valueAtPath(desired.object, path) === undefined);
  const changes = gone.map((path) => ({
    ...{ path: pathToString(path), from: valueAtPath(live, path), to: undefined },
  }));
  return redactChanges(live.kind, changes);
}
