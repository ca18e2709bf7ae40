import { markHealthy } from '../conditions/marks.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import type { Pass } from './pass.js';
import { nextPhase } from './phase-table.js';

/** Ends a deployment or an upgrade: the system is there, in the version of the operator. */
export function complete<CR extends LifecycleObject>(pass: Pass<CR>): void {
  const { operatorVersion, settings, status } = pass;
  const message = `${operatorVersion} is deployed`;
  const marked = markHealthy(status, { reason: 'DeployCompleted', message }, settings.clock);
  pass.mark(marked, {
    phase: nextPhase(status.phase ?? '', 'DeployCompleted'),
    operatorVersion,
    targetVersion: operatorVersion,
    observedVersion: operatorVersion,
  });
}
