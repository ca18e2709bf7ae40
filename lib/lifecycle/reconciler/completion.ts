import { deployCompleted } from '../conditions/explained-status.js';
import { markHealthy } from '../conditions/marks.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import type { Pass } from './pass.js';
import { nextPhase } from './phase-table.js';

/** Ends a deployment or an upgrade: the system is there, in the version of the operator. */
export function complete<CR extends LifecycleObject>(pass: Pass<CR>): void {
  const { operatorVersion, settings, status } = pass;
  const versions = {
    operatorVersion,
    targetVersion: operatorVersion,
    observedVersion: operatorVersion,
  };
  settings.begun.delete(pass.cr.metadata.uid ?? '');
  const why = deployCompleted(versions);
  pass.mark(markHealthy({ ...status, ...versions }, why, settings.clock), {
    phase: nextPhase(status.phase ?? '', 'DeployCompleted'),
  });
}
