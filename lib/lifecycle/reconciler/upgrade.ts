import { upgradeStarted } from '../conditions/explained-status.js';
import { markUpgradeHealingDegraded } from '../conditions/marks.js';
import { setLifecycleCondition } from '../conditions/set-lifecycle-condition.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { isDowngrade } from '../upgrade/downgrade-error.js';
import type { DowngradeError } from '../upgrade/downgrade-error.js';
import { isSameVersion, shouldTakeUpdatePath } from '../upgrade/versions.js';
import type { Pass } from './pass.js';
import { nextPhase } from './phase-table.js';

const downgradeCondition = 'DowngradeRefused';

/**
 * Whether a newer operator has deployed it: then an older one says so, once, and touches nothing else;
 * phase and versions stay as the newer one has left them.
 */
export function refusesDowngrade<CR extends LifecycleObject>(pass: Pass<CR>): boolean {
  try {
    isNewer(pass);
  } catch (error) {
    if (!isDowngrade(error)) throw error;
    refuse(pass, error);
    return true;
  }
  settle(pass);
  return false;
}

/** Begins an upgrade where the operator is newer than what is deployed. */
export function beginUpgrade<CR extends LifecycleObject>(pass: Pass<CR>): void {
  const { operatorVersion, settings, status } = pass;
  const { phase = '', targetVersion = '' } = status;
  const versions = { operatorVersion, targetVersion: operatorVersion };
  const hasBegun = phase === 'Upgrading' && isSameVersion(targetVersion, operatorVersion);
  if (!isNewer(pass) || hasBegun) {
    // An operator of another version may go on with what an earlier one has begun.
    pass.status = { ...status, ...versions };
    return;
  }
  pass.hasBegun = true;
  const why = upgradeStarted({ ...status, ...versions });
  pass.mark(markUpgradeHealingDegraded(status, why, settings.clock), {
    ...versions,
    phase: nextPhase(phase, 'UpgradeStarted'),
  });
}

/** @throws DowngradeError the operator is older. */
function isNewer<CR extends LifecycleObject>({ operatorVersion, status }: Pass<CR>): boolean {
  const { phase = '', observedVersion = '' } = status;
  return shouldTakeUpdatePath(operatorVersion, observedVersion, phase === 'Deploying');
}

function refuse<CR extends LifecycleObject>(pass: Pass<CR>, { message }: DowngradeError): void {
  const before = pass.status.conditions ?? [];
  const known = before.some(
    (one) => one.type === downgradeCondition && one.status === 'True' && one.message === message,
  );
  if (known) return;
  const why = { reason: 'Downgrade', message };
  const update = { type: downgradeCondition, status: 'True', ...why } as const;
  const conditions = setLifecycleCondition(before, update, pass.settings.clock);
  pass.status = { ...pass.status, conditions };
  pass.warnOfStatus({ reason: downgradeCondition, message });
}

function settle<CR extends LifecycleObject>(pass: Pass<CR>): void {
  const { conditions = [] } = pass.status;
  const rest = conditions.filter(({ type }) => type !== downgradeCondition);
  if (rest.length < conditions.length) pass.status = { ...pass.status, conditions: rest };
}
