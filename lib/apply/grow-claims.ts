import set from 'lodash/set.js';
import {
  isForbidden,
  isFoundInvalid,
  describeObject,
  keyOf,
  PersistentVolumeClaim,
  compareQuantities,
} from '../object/index.js';
import type { FieldChange, UnstructuredObject } from '../object/index.js';
import { OperatorError } from '../system/index.js';
import type { ApplyContext } from './context.js';
import type { Waiting } from './decision.js';
import { changedDesire } from './desired-object.js';
import type { DesiredObject, Pair } from './desired-object.js';
import { applyAsRead } from './removed-fields.js';

// Delay before the next attempt to grow an unbound claim, in milliseconds. A claim that outlives its owner
// has no owner reference, so no watch event causes a reconcile.
const unboundRetryMs = 30_000;

/** Why claims of a StatefulSet have not grown. */
export interface LateGrowth {
  readonly reason: string;
  /** The refusal of the storage class of a claim; undefined if claims only have to be bound first. */
  readonly refusal: OperatorError | undefined;
  readonly requeueAfterMs?: number;
}

/**
 * Grows the claims that a StatefulSet has made from its templates to the size that the templates now request.
 * It skips claims of that size, so that it can run again after a crash.
 * @returns why claims have not grown: the storage class does not allow it, or they are not bound yet; undefined if all
 * have
 */
export async function growClaimsOfTemplates(
  context: ApplyContext,
  { desired }: Pair,
): Promise<LateGrowth | undefined> {
  const { client, settings } = context;
  const unbound: string[] = [];
  const refusals: OperatorError[] = [];
  const { namespace, name: setName } = desired.ref;
  const found = await client.list(PersistentVolumeClaim, { namespace, signal: settings.signal });
  for (const template of templatesOf(desired.object)) {
    const size = template.spec?.resources?.requests?.['storage'];
    if (size === undefined) continue;
    const prefix = `${template.metadata.name ?? ''}-${setName}-`;
    const claims = found.items.filter(({ metadata: { name = '' } }) => {
      return name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length));
    });
    for (const claim of claims) {
      const has = claim.spec?.resources?.requests?.['storage'];
      if (has !== undefined && compareQuantities(size, has) <= 0) continue;
      const result = await growClaim(context, claim, size);
      if (result === 'unbound') unbound.push(describeObject(claim));
      else if (result !== 'grown') refusals.push(result);
    }
  }
  const [refusal] = refusals;
  if (refusal !== undefined) {
    const all = refusals.map(({ message }) => message).join('; ');
    return { reason: `waits because ${all}`, refusal };
  }
  if (unbound.length === 0) return undefined;
  const reason = `its claims grow once they are bound: ${unbound.join(', ')}`;
  return { reason, refusal: undefined, requeueAfterMs: unboundRetryMs };
}

/** Increases the requested storage of a claim. Returns an error if its storage class does not allow that. */
async function growClaim(
  { client, settings }: ApplyContext,
  claim: PersistentVolumeClaim,
  storage: string | number,
): Promise<'grown' | 'unbound' | OperatorError> {
  const live = { ...claim, apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
  const { apiVersion, kind } = live;
  const spec = { resources: { requests: { storage } } };
  const growth = { apiVersion, kind, metadata: keyOf(live), spec };
  const { controllerName: fieldManager, signal } = settings;
  try {
    const handles = (error: unknown): boolean => isTooEarly(claim, error) || isResizeRefused(error);
    const options = { force: true, fieldManager, signal, details: { handles } };
    await applyAsRead(client, { live, desired: growth }, options);
    return 'grown';
  } catch (error) {
    if (isTooEarly(claim, error)) return 'unbound';
    if (!isResizeRefused(error)) throw error;
    const message = `${describeObject(live)} ${whyNotGrown(live, storage)}`;
    return new OperatorError('Terminal', message, { cause: error });
  }
}

/** Returns why the storage class of a claim does not allow a size, with the remedy. */
function whyNotGrown(claim: UnstructuredObject | PersistentVolumeClaim, size: string | number) {
  const { storageClassName = '' } = (claim as PersistentVolumeClaim).spec ?? {};
  if (storageClassName === '') {
    return `can't grow to ${size}: it has no StorageClass, and only a class can grow its claims; keep the size`;
  }
  return `can't grow to ${size}: its StorageClass ${storageClassName} does not allow it; set allowVolumeExpansion: true in the class, or keep the size`;
}

/** Returns `desired` with the live sizes in its claim templates; `growth` are the changes of these sizes. */
export function withoutGrowth(
  desired: DesiredObject,
  growth: readonly FieldChange[],
): DesiredObject {
  return changedDesire(desired, (object) => {
    const copy = structuredClone(object);
    for (const { path, from } of growth) set(copy, path, from);
    return copy;
  });
}

// Only this 403 is about the storage class. Other answers with 403 concern permissions, quotas or policies.
function isResizeRefused(error: unknown): boolean {
  const refusal = /only dynamically provisioned pvc can be resized/i;
  return isForbidden(error) && refusal.test((error as Error).message);
}

function isTooEarly(claim: UnstructuredObject | PersistentVolumeClaim, error: unknown): boolean {
  const { phase } = (claim['status'] ?? {}) as { readonly phase?: string };
  if (phase === 'Bound') return false;
  const onlyBound = /only bound persistent volume claims can be expanded/i;
  return isFoundInvalid(error) || (isForbidden(error) && onlyBound.test((error as Error).message));
}

function templatesOf(object: UnstructuredObject): readonly PersistentVolumeClaim[] {
  const { volumeClaimTemplates = [] } = object['spec'] as {
    readonly volumeClaimTemplates?: readonly PersistentVolumeClaim[];
  };
  return volumeClaimTemplates;
}

/**
 * Returns a waiting decision for a claim that can't grow now. The claim stays as it is, and does not block
 * its dependents.
 * @returns undefined if the error has another cause
 */
export function notGrown(
  context: ApplyContext,
  { desired, live }: Pair,
  {
    changes: waiting,
    error,
  }: { readonly changes: readonly FieldChange[]; readonly error: unknown },
): Waiting | undefined {
  const size = String(waiting[0]?.to);
  const { ref } = desired;
  const wait = { action: 'wait', live, blocks: false, waiting } as const;
  if (isResizeRefused(error)) {
    const reason = whyNotGrown(live, size);
    reportRefusedGrowth(context, desired, `${describeObject(ref)} ${reason}`);
    return { ...wait, reason };
  }
  if (!isTooEarly(live, error)) return undefined;
  return { ...wait, reason: `grows to ${size} once it is bound`, requeueAfterMs: unboundRetryMs };
}

/** Records that a storage class does not allow growth. */
export function reportRefusedGrowth(
  context: ApplyContext,
  { ref: related }: DesiredObject,
  note: string,
): void {
  context.report({ type: 'Warning', reason: 'ResizeRefused', action: 'Resize', note, related });
}
