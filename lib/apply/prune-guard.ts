import { describeObject } from '../object/describe-object.js';
import { PersistentVolumeClaim } from '../object/kinds.js';
import type { KubernetesObject, TypeMeta } from '../object/kubernetes-object.js';
import { OperatorError } from '../system/operator-error.js';
import type { ApplySettings } from './context.js';
import type { PruneCandidates } from './candidate.js';
import { isContainer, isKind } from './kind-traits.js';
import { allowDeletionsAnnotation, pruneAnnotation } from './marks.js';

/** Whose deletion takes along what nobody has asked to delete: stored data, or all that is in it. */
export function isPruneGuarded(type: TypeMeta): boolean {
  return isKind(type, PersistentVolumeClaim) || isContainer(type);
}

/**
 * Whether an object that is no longer desired may be deleted: claims, Namespaces and
 * CustomResourceDefinitions only where their annotation `operator-builder.io/prune` is `true`, all
 * others unless it is `false`. What is being deleted already is left alone.
 */
export function mayBePruned(
  { apiVersion, kind, metadata }: KubernetesObject,
  { pruneClaims }: { readonly pruneClaims?: boolean | undefined } = {},
): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const mark = metadata.annotations?.[pruneAnnotation];
  if (mark === 'false') return false;
  if (!isPruneGuarded({ apiVersion, kind })) return true;
  const claim = isKind({ apiVersion, kind }, PersistentVolumeClaim);
  return (claim ? pruneClaims : undefined) ?? mark === 'true';
}

/**
 * Refuses to delete more than `maxDeletions` allows; by default never all that the owner has. The user
 * of the owner can allow it for one generation, by an annotation.
 * @param coming - how many objects of the chain are about to be created; none once it is reconciled
 * @throws OperatorError `TooManyDeletions`, with the list; nothing was deleted.
 */
export function checkDeletions(
  { owner, maxDeletions }: Pick<ApplySettings, 'owner' | 'maxDeletions'>,
  { orphans, inUse, owned, desired }: PruneCandidates,
  coming = 0,
): void {
  const leaving = [...orphans, ...inUse.map(({ candidate }) => candidate)];
  const limit = maxDeletions({ owned, staying: desired + coming });
  if (leaving.length <= limit || allowsDeletions(owner)) return;
  const names = leaving.map(({ object }) => describeObject(object)).join(', ');
  const all = desired + coming === 0;
  const why = all ? 'nothing that it has is desired any longer' : `maxDeletions allows ${limit}`;
  const message = `${describeObject(owner)}: pruning would delete ${leaving.length} of ${owned} objects, and ${why}; nothing was deleted. If this is meant, ${remedyFor(owner)}: ${names}`;
  throw new OperatorError('TooManyDeletions', message);
}

function allowsDeletions({ metadata }: KubernetesObject): boolean {
  const { generation, annotations = {} } = metadata;
  return generation !== undefined && annotations[allowDeletionsAnnotation] === String(generation);
}

function remedyFor(owner: KubernetesObject): string {
  const { generation } = owner.metadata;
  if (generation === undefined) return 'raise maxDeletions';
  return `set the annotation ${allowDeletionsAnnotation}: "${generation}" on ${describeObject(owner)}, or raise maxDeletions`;
}
