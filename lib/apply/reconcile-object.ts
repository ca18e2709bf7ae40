import { describeObject } from '../object/describe-object.js';
import type { FieldChange } from '../object/diff-by-path.js';
import type { KubernetesObject, UnstructuredObject } from '../object/kubernetes-object.js';
import type { ObjectReference } from '../object/object-reference.js';
import { appliedChanges, driftOf, isUnchanged } from './differences.js';
import { applyOptions, asNew, readObject, whileStale, withVersion } from './context.js';
import type { ApplyContext } from './context.js';
import { decide, decideAdopted, decideRefused } from './decide.js';
import type { Applying, Decision, Gate } from './decide.js';
import type { DesiredObject } from './desired-object.js';
import { emptyMaps } from './removed-fields.js';
import {
  adoptFields,
  handOverReplicas,
  releaseFields,
  warnOfDroppedManagers,
} from './field-ownership.js';
import { done, pending } from './results.js';
import type { Outcome } from './results.js';
import { recreateObject } from './immutable-fields.js';

/**
 * Applies one object by server-side apply; sends nothing if the object is as desired.
 * @throws OperatorError `NotOurs`, `AlreadyOwned`, `ImmutableField`, `Terminal`, `ApiError`, …
 */
export function applyObject(
  context: ApplyContext,
  desired: DesiredObject,
  gate: Gate = {},
): Promise<Outcome> {
  const { type, ref } = desired;
  return whileStale(async () => {
    const live = await readObject(context, type, ref);
    return carryOut(context, ref, await decide(context, desired, live, gate), gate);
  });
}

async function carryOut(
  context: ApplyContext,
  ref: ObjectReference,
  decision: Decision,
  gate: Gate = {},
): Promise<Outcome> {
  switch (decision.action) {
    case 'nothing': {
      const { live, reason } = decision;
      return done('unchanged', ref, { ...(live && { live }), ...(reason && { reason }) });
    }
    case 'wait': {
      const { reason, live, blocks, requeueAfterMs } = decision;
      const again = requeueAfterMs !== undefined && { requeueAfterMs };
      return pending(ref, reason, { live, blocks, ...again });
    }
    case 'create':
      return createObject(context, decision.desired);
    case 'adopt': {
      const live = await adoptFields(context, decision, decision.adoption);
      const next = await decideAdopted(context, { ...decision, live }, gate);
      return carryOut(context, ref, next, gate);
    }
    case 'apply':
      return updateObject(context, decision);
    case 'recreate':
      return recreateObject(context, decision);
    case 'refuse':
      throw decision.error;
  }
}

// The cache may be stale. If the object exists, the apply is a conflict, and the next read checks who owns
// it.
async function createObject(context: ApplyContext, desired: DesiredObject): Promise<Outcome> {
  await desired.check?.();
  const { object } = await context.client.apply(asNew(desired.creation), applyOptions(context));
  const isSettled = isUnchanged({ desired, live: object }, context.settings.controllerName);
  return done('created', desired.ref, { live: object, isSettled });
}

async function updateObject(context: ApplyContext, decision: Applying): Promise<Outcome> {
  const { desired, live, hold, isHeld } = decision;
  const { ref } = desired;
  await desired.check?.();
  const handed = await handOverReplicas(context, decision);
  const drift = driftOf(decision, context.settings.controllerName);
  const causes = desired.causesOf?.(live) ?? [];
  const cause = drift.length > 0 ? 'drift' : causeOfRollout(causes);
  try {
    const ready = await emptyMaps(context, { desired, live: handed });
    let changes: readonly FieldChange[] | undefined;
    const changesIn = (after: KubernetesObject): readonly FieldChange[] =>
      (changes ??= appliedChanges({ before: live, after: after as UnstructuredObject, drift }));
    const options = applyOptions(context, { changes: changesIn, cause });
    const { object: after } = await context.client.apply(
      withVersion(desired.object, ready),
      options,
    );
    warnOfDroppedManagers(context, { desired, before: live, after });
    const object = await releaseFields(context, { desired, live: after });
    if (isHeld) {
      return pending(ref, hold ?? '', { live: object, changes: changesIn(after), blocks: false });
    }
    const isSettled = isUnchanged({ desired, live: object }, context.settings.controllerName);
    return done('configured', ref, {
      ...{ changes: changesIn(after), live: object, isSettled },
      ...(causes.length > 0 && { causes }),
    });
  } catch (error) {
    const next = decideRefused(context, decision, error);
    if (next === undefined) throw error;
    return carryOut(context, ref, next);
  }
}

/** Describes `causes`; undefined without causes. */
export function causeOfRollout(causes: readonly ObjectReference[]): string | undefined {
  if (causes.length === 0) return undefined;
  return `${causes.map((ref) => describeObject(ref)).join(', ')} changed`;
}
