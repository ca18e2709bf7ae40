import {
  isForbidden,
  isInvalid,
  describeObject,
  keyOf,
  PersistentVolumeClaim,
  compareQuantities,
} from '../object/index.js';
import type { FieldChange, UnstructuredObject } from '../object/index.js';
import { OperatorError } from '../system/index.js';
import type { ApplyContext } from './context.js';
import type { Waiting } from './decision.js';
import type { Pair } from './desired-object.js';
import { applyAsRead } from './removed-fields.js';
import { pending } from './results.js';
import type { Outcome } from './results.js';

// Delay before the next attempt to grow an unbound claim, in milliseconds. A claim that outlives its owner
// has no owner reference, so no watch event causes a reconcile.
const unboundRetryMs = 30_000;

/**
 * Grows the claims that a StatefulSet has made from its templates to the size that the templates now request.
 * It skips claims of that size, so that it can run again after a crash.
 * @returns a pending outcome if a claim is not bound yet, because only a bound claim can grow
 * @throws OperatorError `Terminal`: the storage class of a claim does not allow it.
 */
export async function growClaimsOfTemplates(
  context: ApplyContext,
  { desired, live }: Pair,
): Promise<Outcome | undefined> {
  const { client, settings } = context;
  const unbound: string[] = [];
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
      const grown = await growClaim(context, claim, size);
      if (!grown) unbound.push(describeObject(claim));
    }
  }
  if (unbound.length === 0) return undefined;
  const reason = `its claims grow once they are bound: ${unbound.join(', ')}`;
  return pending(desired.ref, reason, { live, blocks: false, requeueAfterMs: unboundRetryMs });
}

/** Returns true if the claim has grown, false if it has to be bound first. */
async function growClaim(
  { client, settings }: ApplyContext,
  claim: PersistentVolumeClaim,
  storage: string | number,
): Promise<boolean> {
  const live = { ...claim, apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
  const { apiVersion, kind } = live;
  const spec = { resources: { requests: { storage } } };
  const growth = { apiVersion, kind, metadata: keyOf(live), spec };
  const { controllerName: fieldManager, signal } = settings;
  try {
    await applyAsRead(client, { live, desired: growth }, { force: true, fieldManager, signal });
    return true;
  } catch (error) {
    if (isTooEarly(claim, error)) return false;
    if (!isResizeRefused(error)) throw error;
    const message = `${describeObject(claim)} can't grow to ${storage}: ${(error as Error).message}; use a StorageClass with allowVolumeExpansion, or leave the size`;
    throw new OperatorError('Terminal', message, { cause: error });
  }
}

// The only 403 about the storage class; others concern permissions, quotas or policies.
function isResizeRefused(error: unknown): boolean {
  const refusal = /only dynamically provisioned pvc can be resized/i;
  return isForbidden(error) && refusal.test((error as Error).message);
}

function isTooEarly(claim: UnstructuredObject | PersistentVolumeClaim, error: unknown): boolean {
  const { phase } = (claim['status'] ?? {}) as { readonly phase?: string };
  if (phase === 'Bound') return false;
  const onlyBound = /only bound persistent volume claims can be expanded/i;
  return isInvalid(error) || (isForbidden(error) && onlyBound.test((error as Error).message));
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
  const wait = { action: 'wait', live, blocks: false, waiting } as const;
  if (isResizeRefused(error)) {
    const reason = `can't grow to ${size}: ${(error as Error).message}`;
    const warning = { type: 'Warning', reason: 'ResizeRefused', action: 'Resize' } as const;
    context.report({ ...warning, note: reason, related: desired.ref });
    return { ...wait, reason };
  }
  if (!isTooEarly(live, error)) return undefined;
  return { ...wait, reason: `grows to ${size} once it is bound`, requeueAfterMs: unboundRetryMs };
}
