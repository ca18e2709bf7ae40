import { isDeepStrictEqual } from 'node:util';
import {
  Builder,
  Deployment,
  builderAccess,
  controllerFor,
  done,
  getIfExists,
  requeueAfter,
  requeueAfterOf,
  setCondition,
  systemClock,
} from 'operator-builder';
import type { ConditionUpdate, Manager, ObjectResult, Recorder } from 'operator-builder';
import type { ReconcileContext, Reconciler } from 'operator-builder';
import { KindName } from '../api/v99alpha99/kind-name.js';

/** Who owns the fields that are written: keep it, or what was written under the old name stays behind. */
const controllerName = 'operator-name';

/** Brings the cluster to what the object of a key says. It is called again on every change of either. */
export function kindNameReconciler(recorder: Recorder): Reconciler {
  return async (context) => {
    const { key, client } = context;
    const owner = await getIfExists(client, KindName, key);
    // Deleted: garbage collection takes what it owned.
    if (owner === undefined || owner.metadata.deletionTimestamp !== undefined) return done();
    let results: readonly ObjectResult[];
    try {
      results = await deploy(owner, recorder, context);
    } catch (error) {
      // The controller logs the error, and tries again with back-off.
      const message = error instanceof Error ? error.message.slice(0, 1_000) : 'see the log';
      await writeReady(owner, { status: 'False', reason: 'ReconcileFailed', message }, context);
      throw error;
    }
    await writeReady(owner, rolloutOf(results), context);
    const delayMs = requeueAfterOf(results);
    return delayMs === undefined ? done() : requeueAfter(delayMs);
  };
}

/** Writes the objects; what it writes, and each failure, is an event on `owner`. */
function deploy(
  owner: KindName,
  recorder: Recorder,
  { key, client, logger, signal }: ReconcileContext,
): Promise<readonly ObjectResult[]> {
  const { image, replicas } = owner.spec;
  return new Builder({
    client,
    owner,
    controllerName,
    owns: [Deployment],
    recorder,
    // +operator-builder:if cluster-scoped
    namespace: 'default',
    // +operator-builder:end
    logger,
    signal,
  })
    .deployment({
      // Objects of other kinds may have the same name.
      name: `kindname-${key.name}`,
      replicas,
      podSpec: { containers: [{ name: 'app', image }] },
    })
    .reconcile();
}

type Ready = Omit<ConditionUpdate, 'type' | 'observedGeneration'>;

function rolloutOf(results: readonly ObjectResult[]): Ready {
  const waiting = results.find(
    ({ rollout }) => rollout !== undefined && rollout.state !== 'complete',
  );
  if (waiting === undefined) return { status: 'True', reason: 'RolledOut' };
  return { status: 'False', reason: 'RollingOut', message: waiting.rollout?.message ?? '' };
}

/** Writes the condition Ready; through the subresource, so that the spec stays the user's. */
async function writeReady(
  owner: KindName,
  ready: Ready,
  { key, client, signal }: ReconcileContext,
): Promise<void> {
  const { generation: observedGeneration = 0 } = owner.metadata;
  const conditions = setCondition(
    owner.status?.conditions ?? [],
    { type: 'Ready', ...ready, observedGeneration },
    systemClock,
  );
  const status = { observedGeneration, conditions };
  // A write that changes nothing would wake this controller again.
  if (isDeepStrictEqual(status, owner.status)) return;
  const patch = { type: 'merge', body: { status } } as const;
  await client.patch(KindName, key, patch, { subresource: 'status', signal });
}

/** Adds the controller to the manager. */
export function setupKindNameController(manager: Manager): void {
  const reconciler = kindNameReconciler(manager.eventRecorder(controllerName));
  manager.add(controllerFor(KindName).owns(Deployment).complete(reconciler), {
    // Beside watching: what config/rbac/role.yaml has to allow, and what is asked for at the start.
    requires: [
      { type: KindName, subresource: 'status', verbs: ['patch'] },
      ...builderAccess([Deployment]),
    ],
  });
}
