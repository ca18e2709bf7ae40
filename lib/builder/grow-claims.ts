import { isForbidden, isNamespaceTerminating } from '../object/api-error.js';
import { describeObject } from '../object/describe-object.js';
import type { FieldChange } from '../object/diff-by-path.js';
import { PersistentVolumeClaim } from '../object/kinds.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { compareQuantities } from '../object/quantity.js';
import { OperatorError } from '../system/operator-error.js';
import type { RunContext } from './context.js';
import type { DesiredObject } from './desired-object.js';
import { pending } from './outcome.js';
import type { Outcome } from './outcome.js';
import type { VolumeClaimTemplate } from './kinds/workloads.js';

// Nothing that a controller watches tells of a claim that outlives its owner.
const unboundRetryMs = 30_000;

/**
 * Grows the claims that a StatefulSet has made of its templates to what the templates now ask for.
 * A claim that has it already is left alone, so that this can be done again after a crash.
 * @throws OperatorError `Terminal`: the storage class of a claim does not allow it.
 */
export async function growClaimsOfTemplates(
  context: RunContext,
  desired: DesiredObject,
): Promise<void> {
  const { client, settings } = context;
  const { namespace, name: setName } = desired.ref;
  const found = await client.list(PersistentVolumeClaim, { namespace, signal: settings.signal });
  for (const template of templatesOf(desired.object)) {
    const size = template.spec.resources?.requests?.['storage'];
    if (size === undefined) continue;
    const prefix = `${template.metadata.name}-${setName}-`;
    const claims = found.items.filter(({ metadata: { name = '' } }) => {
      return name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length));
    });
    for (const claim of claims) {
      const has = claim.spec?.resources?.requests?.['storage'];
      if (has === undefined || compareQuantities(size, has) > 0) {
        await growClaim(context, claim, size);
      }
    }
  }
}

async function growClaim(
  { client, settings }: RunContext,
  claim: PersistentVolumeClaim,
  storage: string,
): Promise<void> {
  const { name, namespace, uid } = claim.metadata;
  const growth: UnstructuredObject = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
    },
    spec: { resources: { requests: { storage } } },
  };
  const { controllerName: fieldManager, signal } = settings;
  try {
    await client.apply(growth, { force: true, fieldManager, signal });
  } catch (error) {
    if (!isForbidden(error) || isNamespaceTerminating(error)) throw error;
    const message = `${describeObject(claim)} can't grow to ${storage}: ${(error as Error).message}; use a StorageClass with allowVolumeExpansion, or leave the size`;
    throw new OperatorError('Terminal', message, { cause: error });
  }
}

function templatesOf(object: UnstructuredObject): readonly VolumeClaimTemplate[] {
  const { volumeClaimTemplates = [] } = object['spec'] as {
    readonly volumeClaimTemplates?: readonly VolumeClaimTemplate[];
  };
  return volumeClaimTemplates;
}

/** What {@link notGrown} is told. */
export interface RefusedGrowth {
  readonly desired: DesiredObject;
  readonly live: UnstructuredObject;
  readonly changes: readonly FieldChange[];
  readonly error: unknown;
}

/**
 * A claim that can't grow (now): the claim goes on as it is, and so does what depends on it.
 * @returns undefined where something else is wrong with it
 */
export function notGrown(
  context: RunContext,
  { desired, live, changes, error }: RefusedGrowth,
): Outcome | undefined {
  const { phase } = (live['status'] ?? {}) as { readonly phase?: string };
  const size = String(changes[0]?.to);
  if (isForbidden(error) && !isNamespaceTerminating(error)) {
    const note = `can't grow to ${size}: ${(error as Error).message}`;
    const action = 'Resize';
    context.report({
      type: 'Warning',
      reason: 'ResizeRefused',
      action,
      note,
      related: desired.ref,
    });
    return pending(desired.ref, note, { live, blocks: false });
  }
  if (phase === 'Bound') return undefined;
  const reason = `grows to ${size} once it is bound`;
  return pending(desired.ref, reason, { live, blocks: false, requeueAfterMs: unboundRetryMs });
}
