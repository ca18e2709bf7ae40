import type { DesiredObject, Pair } from '../../apply/index.js';
import { fieldPath } from '../../object/field-path.js';
import { withoutMember } from '../../object/json.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { fieldManagersOf } from '../../object/managed-fields.js';

/** Returns the labels of `allowed` that `desired` sets too. Others may have set them to another value. */
export function contestedLabels(
  desired: UnstructuredObject,
  allowed: readonly string[],
): readonly string[] {
  const { labels = {} } = desired.metadata;
  return allowed.filter((label) => Object.hasOwn(labels, label));
}

/**
 * Returns `desired` without the labels of `allowed` that others have set on the live object, so that applying
 * leaves them unchanged. The hash still covers the whole object, so that changes of these labels cause no
 * writes.
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
  // Without `managedFields`, only the value shows the setter.
  if (managedFields === undefined) return labels[label] !== wanted;
  const owners = fieldManagersOf(live, fieldPath('metadata', 'labels', label));
  return owners.some(({ name, operation }) => name !== manager || operation !== 'Apply');
}
