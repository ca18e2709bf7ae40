import { describeObject } from '../../object/describe-object.js';
import { markDeploying, markFailed } from '../conditions/marks.js';
import { setLifecycleCondition } from '../conditions/set-lifecycle-condition.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import type { Pass } from './pass.js';
import { nextPhase } from './phase-table.js';
import type { SurveyedObject } from './survey.js';

/** The generation of a configuration whose status contradicted itself. */
export const configErrorAnnotation = 'operator-builder.io/config-error-generation';

/** When a configuration that can't be carried out is looked at again, in milliseconds. */
export const problemRetryMs = 30_000;

/** Whether the status says that something was deployed, and not what: nobody knows what to do then. */
export function isContradictory<CR extends LifecycleObject>({
  settings,
  cr,
  status,
}: Pass<CR>): boolean {
  return settings.crManager.isCreating(cr) && (status.phase ?? '') !== '';
}

/**
 * Puts a contradictory configuration into phase Error, where it stays until its spec changes; then it
 * begins anew.
 * @returns whether it begins anew
 */
export async function settleContradiction<CR extends LifecycleObject>(
  pass: Pass<CR>,
): Promise<boolean> {
  const { metadata } = pass.cr;
  const noted = metadata.annotations?.[configErrorAnnotation];
  const generation = String(metadata.generation ?? 0);
  const phase = pass.status.phase ?? '';
  if (phase === 'Error' && noted !== undefined && noted !== generation) {
    pass.status = { ...pass.status, phase: nextPhase(phase, 'SpecChanged') };
    return true;
  }
  if (phase === 'Error' && noted === generation) return false;
  const message = `the phase is ${phase}, and no version says what was deployed: change the spec to begin anew`;
  pass.mark(markFailed(pass.status, { reason: 'ConfigError', message }, pass.settings.clock), {
    phase: 'Error',
  });
  await noteGeneration(pass, generation);
  return false;
}

async function noteGeneration<CR extends LifecycleObject>(
  pass: Pass<CR>,
  generation: string,
): Promise<void> {
  const { uid, resourceVersion, name, namespace } = pass.cr.metadata;
  const annotations = { [configErrorAnnotation]: generation };
  const body = { metadata: { uid, resourceVersion, annotations } };
  const key = { name: name ?? '', namespace };
  const patch = { type: 'merge', body } as const;
  pass.cr = await pass.live.patch(pass.settings.crManager.type, key, patch, {
    signal: pass.signal,
  });
}

/**
 * Says which objects are in the way of a first deployment.
 * @returns whether it has to wait for them
 */
export function waitsForOrphans<CR extends LifecycleObject>(
  pass: Pass<CR>,
  orphans: readonly SurveyedObject[],
): boolean {
  if (orphans.length === 0 || pass.settings.orphans === 'adopt') return false;
  const names = orphans.map(({ desired }) => describeObject(desired)).join(', ');
  const message = `exist already and are nobody's: ${names}; delete them, or have them adopted`;
  const reason = 'OrphansExist';
  const before = pass.status.conditions ?? [];
  const known = before.some((one) => one.reason === reason && one.message === message);
  const update = { type: 'Progressing', status: 'False', reason, message } as const;
  const conditions = setLifecycleCondition(before, update, pass.settings.clock);
  pass.status = { ...pass.status, conditions };
  if (!known) pass.warn({ reason, message });
  return true;
}

/** Begins the first deployment. */
export async function beginDeployment<CR extends LifecycleObject>(pass: Pass<CR>): Promise<void> {
  const { preCreateHook, clock } = pass.settings;
  await preCreateHook?.(pass.cr, pass.hooks);
  const { operatorVersion } = pass;
  const why = { reason: 'DeployStarted', message: `deployment of ${operatorVersion} has begun` };
  pass.mark(markDeploying(pass.status, why, clock), {
    phase: nextPhase(pass.status.phase ?? '', 'DeployStarted'),
    operatorVersion,
    targetVersion: operatorVersion,
  });
}
