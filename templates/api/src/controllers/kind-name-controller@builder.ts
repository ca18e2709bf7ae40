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
import type { Manager, ObjectResult, ReconcileContext, Reconciler } from 'operator-builder';
import { KindName } from '../api/v99alpha99/kind-name.js';

/** Who owns the fields that are written: keep it, or what was written under the old name stays behind. */
const controllerName = 'operator-name';

/** Brings the cluster to what the object of a key says. It is called again on every change of either. */
export const reconcileKindName: Reconciler = async (context) => {
  const { key, client, logger, signal } = context;
  const owner = await getIfExists(client, KindName, key);
  // Deleted: garbage collection takes what it owned.
  if (owner === undefined || owner.metadata.deletionTimestamp !== undefined) return done();
  const { image, replicas } = owner.spec;
  const results = await new Builder({
    client,
    owner,
    controllerName,
    owns: [Deployment],
    // +operator-builder:if cluster-scoped
    namespace: 'default',
    // +operator-builder:end
    logger,
    signal,
  })
    .deployment({
      name: key.name,
      replicas,
      podSpec: { containers: [{ name: 'app', image }] },
    })
    .reconcile();
  await writeStatus(owner, results, context);
  const delayMs = requeueAfterOf(results);
  return delayMs === undefined ? done() : requeueAfter(delayMs);
};

/** Says on the object how far it is; through the subresource, so that the spec stays the user's. */
async function writeStatus(
  owner: KindName,
  results: readonly ObjectResult[],
  { key, client, signal }: ReconcileContext,
): Promise<void> {
  const { generation: observedGeneration = 0 } = owner.metadata;
  const waiting = results.find(
    ({ rollout }) => rollout !== undefined && rollout.state !== 'complete',
  );
  const conditions = setCondition(
    owner.status?.conditions ?? [],
    {
      type: 'Ready',
      status: waiting === undefined ? 'True' : 'False',
      reason: waiting === undefined ? 'RolledOut' : 'RollingOut',
      message: waiting?.rollout?.message ?? '',
      observedGeneration,
    },
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
  manager.add(controllerFor(KindName).owns(Deployment).complete(reconcileKindName), {
    // Beside watching: what config/rbac/role.yaml has to allow, and what is asked for at the start.
    requires: [
      { type: KindName, subresource: 'status', verbs: ['patch'] },
      ...builderAccess([Deployment]),
    ],
  });
}
