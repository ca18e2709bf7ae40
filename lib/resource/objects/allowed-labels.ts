import type { DesiredObject, Pair } from '../../apply/index.js';
import { fieldPath } from '../../object/field-path.js';
import { withoutMember } from '../../object/json.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { fieldManagersOf } from '../../object/managed-fields.js';

/** The labels of `allowed` that `desired` names: others may have set them to something else. */
export function contestedLabels(
  desired: UnstructuredObject,
  allowed: readonly string[],
): readonly string[] {
  const { labels = {} } = desired.metadata;
  return allowed.filter((label) => Object.hasOwn(labels, label));
}

/**
 * `desired` without the labels of `allowed` that somebody else has set on the live object: what is not
 * applied stays as it is. Its hash is that of the whole, so that what others do to the labels is no
 * reason to write.
 */
export function withoutOthersLabels(
  { desired, live }: Pair,
  allowed: readonly string[],
  manager: string,
): DesiredObject {
  const { metadata } = desired.object;
  const kept = contestedLabels(desired.object, allowed).filter((label) =>
    isSetByOthers(live, label, { manager, wanted: metadata.labels?.[label] }),
  );
  if (kept.length === 0) return desired;
  const labels = kept.reduce((left, label) => withoutMember(left, label), metadata.labels ?? {});
  const object = { ...desired.object, metadata: { ...metadata, labels } };
  return { ...desired, object, creation: object };
}

function isSetByOthers(
  live: UnstructuredObject,
  label: string,
  { manager, wanted }: { readonly manager: string; readonly wanted: string | undefined },
): boolean {
  const { labels = {}, managedFields } = live.metadata;
  if (!Object.hasOwn(labels, label)) return false;
  // Read without its managers, only the value can tell.
  if (managedFields === undefined) return labels[label] !== wanted;
  const owners = fieldManagersOf(live, fieldPath('metadata', 'labels', label));
  return owners.some(({ name, operation }) => name !== manager || operation !== 'Apply');
}
