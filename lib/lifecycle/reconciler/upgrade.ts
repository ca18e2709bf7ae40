import { upgradeStarted } from '../conditions/explained-status.js';
import { markUpgradeHealingDegraded } from '../conditions/marks.js';
import type { Marked } from '../conditions/marks.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { isDowngrade } from '../upgrade/downgrade-error.js';
import { isSameVersion, shouldTakeUpdatePath } from '../upgrade/versions.js';
import { versionLabelOf } from './completed-object.js';
import { raise, settle } from './own-conditions.js';
import type { Pass } from './pass.js';
import { nextPhase } from './phase-table.js';
import { isOurs } from './survey.js';
import type { SurveyedObject } from './survey.js';

/**
 * Whether a newer operator has deployed it: then an older one says so, once, and touches nothing else;
 * phase and versions stay as the newer one has left them.
 */
export function refusesDowngrade<CR extends LifecycleObject>(pass: Pass<CR>): boolean {
  return refuses(pass, () => {
    isNewer(pass);
    // Without a status, only the objects can say which version was deployed.
    if (!pass.isCreating) settle(pass, 'DowngradeRefused');
  });
}

/**
 * Whether the objects of a configuration that has lost its status were made or changed by a newer
 * operator: an older one refuses to work then, too.
 */
export function refusesOlderThanObjects<CR extends LifecycleObject>(
  pass: Pass<CR>,
  surveyed: readonly SurveyedObject[],
): boolean {
  const { createVersionLabel, updateVersionLabel } = pass.settings;
  const own = surveyed.flatMap(({ current }) =>
    current !== undefined && isOurs(pass, current) ? [current.metadata.labels ?? {}] : [],
  );
  const versions = own.flatMap(
    (labels) => labels[updateVersionLabel] ?? labels[createVersionLabel] ?? [],
  );
  const operator = versionLabelOf(pass.operatorVersion);
  return refuses(pass, () => {
    for (const version of versions) shouldTakeUpdatePath(operator, version, false);
    settle(pass, 'DowngradeRefused');
  });
}

/** Begins an upgrade, or the way back from one, where the operator is not what is being deployed. */
export function beginUpgrade<CR extends LifecycleObject>(pass: Pass<CR>): void {
  const { operatorVersion, settings, status } = pass;
  const { phase = '', targetVersion = '' } = status;
  const versions = { operatorVersion, targetVersion: operatorVersion };
  const isUnderWay = phase === 'Upgrading' && isSameVersion(targetVersion, operatorVersion);
  const isRollback = phase === 'Upgrading' && !isNewer(pass);
  if (isUnderWay || !(isNewer(pass) || isRollback)) {
    // An operator of another version may go on with what an earlier one has begun.
    pass.status = { ...status, ...versions };
    return;
  }
  pass.hasBegun = true;
  const why = upgradeStarted({ ...status, ...versions });
  const marked = markUpgradeHealingDegraded(status, why, settings.clock);
  pass.status = {
    ...marked.status,
    ...versions,
    phase: nextPhase(phase, 'UpgradeStarted'),
  };
  tellOnce(pass, { event: marked.event, other: targetVersion });
}

/**
 * Records the event once for each version that takes over a configuration. Two operators that take
 * turns would repeat theirs for as long as both run: the second time, one event names that instead.
 */
function tellOnce<CR extends LifecycleObject>(
  pass: Pass<CR>,
  { event, other }: { readonly event: Marked['event']; readonly other: string },
): void {
  const { uid = '' } = pass.cr.metadata;
  const { begun } = pass.settings;
  const versions = begun.get(uid) ?? new Map<string, number>();
  const times = (versions.get(pass.operatorVersion) ?? 0) + 1;
  begun.set(uid, versions.set(pass.operatorVersion, times));
  if (times === 1) pass.tellOfStatus(event);
  if (times !== 2) return;
  const message = `an operator of version ${other} is deploying it, too: run one operator at a time`;
  pass.tellOfStatus({ type: 'Warning', reason: 'OperatorsCompete', message });
}

/** @throws DowngradeError the operator is older. */
function isNewer<CR extends LifecycleObject>({ operatorVersion, status }: Pass<CR>): boolean {
  const { phase = '', observedVersion = '' } = status;
  return shouldTakeUpdatePath(operatorVersion, observedVersion, phase === 'Deploying');
}

function refuses<CR extends LifecycleObject>(pass: Pass<CR>, check: () => void): boolean {
  try {
    check();
    return false;
  } catch (error) {
    if (!isDowngrade(error)) throw error;
    const { message } = error;
    if (raise(pass, 'DowngradeRefused', { reason: 'Downgrade', message })) {
      pass.tellOfStatus({ type: 'Warning', reason: 'DowngradeRefused', message });
    }
    return true;
  }
}
