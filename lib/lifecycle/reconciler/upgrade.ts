import { markUpgradeHealingDegraded } from '../conditions/marks.js';
import type { Explanation } from '../conditions/marks.js';
import { setLifecycleCondition } from '../conditions/set-lifecycle-condition.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { isDowngrade } from '../upgrade/downgrade-error.js';
import type { DowngradeError } from '../upgrade/downgrade-error.js';
import { isSameVersion, shouldTakeUpdatePath } from '../upgrade/versions.js';
import type { Pass } from './pass.js';
import { nextPhase } from './phase-table.js';

const downgradeCondition = 'DowngradeRefused';

/**
 * Compares the version of the operator with the one that is deployed, and begins an upgrade where it
 * is newer.
 * @returns whether the pass goes on: an older operator does nothing
 */
export function checkVersion<CR extends LifecycleObject>(pass: Pass<CR>): boolean {
  const { phase = '', observedVersion = '', targetVersion = '' } = pass.status;
  try {
    const newer = shouldTakeUpdatePath(
      pass.operatorVersion,
      observedVersion,
      phase === 'Deploying',
    );
    const begun = phase === 'Upgrading' && isSameVersion(targetVersion, pass.operatorVersion);
    if (newer && !begun) beginUpgrade(pass);
    // An operator of another version may go on with what an earlier one has begun.
    else if (!newer) retarget(pass);
  } catch (error) {
    if (!isDowngrade(error)) throw error;
    refuse(pass, error);
    return false;
  }
  settle(pass);
  return true;
}

/** What is said from the beginning of an upgrade to its end. */
export function upgradeStarted(from: string, to: string): Explanation {
  return { reason: 'UpgradeStarted', message: `upgrade from ${from} to ${to} has begun` };
}

function beginUpgrade<CR extends LifecycleObject>(pass: Pass<CR>): void {
  const { operatorVersion, status, settings } = pass;
  const { observedVersion = 'nothing' } = status;
  const why = upgradeStarted(observedVersion, operatorVersion);
  const marked = markUpgradeHealingDegraded(status, why, settings.clock);
  pass.mark(marked, {
    phase: nextPhase(status.phase ?? '', 'UpgradeStarted'),
    operatorVersion,
    targetVersion: operatorVersion,
  });
}

function retarget<CR extends LifecycleObject>(pass: Pass<CR>): void {
  const { operatorVersion } = pass;
  const { targetVersion } = pass.status;
  if (targetVersion === operatorVersion && pass.status.operatorVersion === operatorVersion) return;
  pass.status = { ...pass.status, operatorVersion, targetVersion: operatorVersion };
}

/** Says it on the configuration, once; phase and versions stay as the newer operator has left them. */
function refuse<CR extends LifecycleObject>(pass: Pass<CR>, error: DowngradeError): void {
  const { message } = error;
  const before = pass.status.conditions ?? [];
  const known = before.some(
    (one) => one.type === downgradeCondition && one.status === 'True' && one.message === message,
  );
  if (known) return;
  const update = {
    type: downgradeCondition,
    status: 'True',
    reason: 'Downgrade',
    message,
  } as const;
  const conditions = setLifecycleCondition(before, update, pass.settings.clock);
  pass.status = { ...pass.status, conditions };
  pass.warn({ reason: downgradeCondition, message });
}

function settle<CR extends LifecycleObject>(pass: Pass<CR>): void {
  const { conditions = [] } = pass.status;
  const rest = conditions.filter(({ type }) => type !== downgradeCondition);
  if (rest.length < conditions.length) pass.status = { ...pass.status, conditions: rest };
}
