import { controllerFor, done, getIfExists } from 'operator-builder';
import type { Manager, Reconciler } from 'operator-builder';
import { KindName } from '../api/v99alpha99/kind-name.js';

/** Reconciles an object. Others own it: write only fields that are the operator's, by server-side apply. */
const reconciler: Reconciler = async ({ key, client, logger }) => {
  const object = await getIfExists(client, KindName, key);
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return done();
  logger.info('reconciled');
  return done();
};

/** Adds the controller to the manager. What it writes belongs to `requires`, for config/rbac/role.yaml. */
export function setupKindNameController(manager: Manager): void {
  manager.add(controllerFor(KindName).complete(reconciler), { requires: [] });
}
