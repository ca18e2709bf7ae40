import { describeObject } from '../../object/describe-object.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Trouble } from '../conditions/explained-status.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { applyObjects } from './apply-objects.js';
import { complete } from './completion.js';
import { whyDegraded } from './degraded.js';
import type { Degradation } from './degraded.js';
import { joined } from './joined-errors.js';
import type { Pass } from './pass.js';
import { prune } from './prune.js';
import type { SurveyedObject } from './survey.js';
import { callUserCode } from './user-code.js';

/** What has changed is looked at again soon, should no watch tell, in milliseconds. */
const settleMs = 1_000;

/** What others have to do is looked at again, should no watch tell, in milliseconds. */
const recheckMs = 10_000;

/**
 * Makes the system as it should be, and says so once it is.
 * @returns when to look again, in milliseconds
 */
export async function carryOut<CR extends LifecycleObject>(
  pass: Pass<CR>,
  surveyed: readonly SurveyedObject[],
): Promise<number> {
  const { controllerConfigUpdater, perishablesSynchronizer } = pass.settings;
  const { perishablesSyncIntervalMs } = pass.settings;
  await callUserCode(pass, 'controllerConfigUpdater', (signal) =>
    controllerConfigUpdater?.(pass.cr, pass.hooks(signal)),
  );
  const { objects, changed, errors } = await applyObjects(pass, surveyed);
  if (errors.length > 0) throw joined(errors);
  await callUserCode(pass, 'perishablesSynchronizer', (signal) =>
    perishablesSynchronizer?.(pass.cr, pass.hooks(signal)),
  );
  const degraded = whyDegraded(objects);
  const going = whyGoing(objects);
  if (going === undefined) pass.explain(troubleOf(pass, degraded));
  else pass.complain(going);
  const atMost = (ms: number): number => Math.min(ms, perishablesSyncIntervalMs);
  // What was just written has not been looked at by anybody yet.
  if (changed || pass.hasBegun) return atMost(settleMs);
  if (degraded !== undefined || going !== undefined) return atMost(recheckMs);
  if (await prune(pass, surveyed)) return atMost(recheckMs);
  if (pass.status.phase !== 'Deployed') complete(pass);
  return perishablesSyncIntervalMs;
}

/** Until a deployment or an upgrade is complete, its workloads are waited for: that is no trouble. */
function troubleOf<CR extends LifecycleObject>(
  { status }: Pass<CR>,
  degraded: Degradation | undefined,
): Trouble | undefined {
  return status.phase === 'Deployed' || degraded?.stuck === true ? degraded : undefined;
}

function whyGoing(objects: readonly UnstructuredObject[]): Trouble | undefined {
  const going = objects.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (going.length === 0) return undefined;
  const names = going.map((object) => describeObject(object)).join(', ');
  const message = `being deleted by somebody, made anew once gone: ${names}`;
  return { reason: 'ResourceBeingDeleted', message };
}
