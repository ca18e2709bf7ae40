import omit from 'lodash/omit.js';
import { hashObject } from '../../hash/hash-object.js';
import { keyOf } from '../../object/object-key.js';
import { deployStarted } from '../conditions/explained-status.js';
import { markDeploying, markFailed } from '../conditions/marks.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import type { Pass } from './pass.js';
import { nextPhase } from './phase-table.js';
import { callUserCode } from './user-code.js';

/** A hash of the spec of a configuration whose status contradicted itself. */
export const configErrorAnnotation = 'operator-builder.io/config-error';

/**
 * Whether the status says that something was deployed, and not what: nobody knows what to do then.
 * A phase of deletion without a deletion, as in an object from a backup, is no better.
 */
export function isContradictory<CR extends LifecycleObject>({
  settings,
  cr,
  status,
}: Pass<CR>): boolean {
  const { phase = '' } = status;
  if (phase === '') return false;
  const isRunning = ['Deploying', 'Deployed', 'Upgrading'].includes(phase);
  return !isRunning || settings.crManager.isCreating(cr);
}

/**
 * Puts a contradictory configuration into phase Error, where it stays until its spec changes; then it
 * begins anew.
 * @returns whether it begins anew
 */
export async function settleContradiction<CR extends LifecycleObject>(
  pass: Pass<CR>,
): Promise<boolean> {
  const noted = pass.cr.metadata.annotations?.[configErrorAnnotation];
  // Not its generation: without a subresource, that counts changes of the status, too.
  const spec = hashObject(omit(pass.cr, ['apiVersion', 'kind', 'metadata', 'status']));
  const { phase = '' } = pass.status;
  if (phase === 'Error' && noted === spec) return false;
  if (phase === 'Error' && noted !== undefined) {
    pass.status = { ...pass.status, phase: nextPhase(phase, 'SpecChanged') };
    return true;
  }
  const why = pass.settings.crManager.isCreating(pass.cr)
    ? 'no version says what was deployed'
    : 'it is not being deleted';
  const message = `the phase is ${phase}, and ${why}: change the spec to begin anew`;
  const marked = markFailed(pass.status, { reason: 'ConfigError', message }, pass.settings.clock);
  // Noted first: a phase Error without it would be told of twice.
  await noteSpec(pass, spec);
  pass.mark(marked, { phase: 'Error' });
  return false;
}

async function noteSpec<CR extends LifecycleObject>(pass: Pass<CR>, spec: string): Promise<void> {
  const { cr, live, settings, signal } = pass;
  if (cr.metadata.annotations?.[configErrorAnnotation] === spec) return;
  const { uid, resourceVersion } = cr.metadata;
  const body = {
    metadata: { uid, resourceVersion, annotations: { [configErrorAnnotation]: spec } },
  };
  pass.cr = await live.patch(
    settings.crManager.type,
    keyOf(cr),
    { type: 'merge', body },
    { signal },
  );
}

/** Begins the first deployment. */
export async function beginDeployment<CR extends LifecycleObject>(pass: Pass<CR>): Promise<void> {
  const { preCreateHook, clock } = pass.settings;
  await callUserCode(pass, 'preCreateHook', (signal) =>
    preCreateHook?.(pass.cr, pass.hooks(signal)),
  );
  const { operatorVersion } = pass;
  const versions = { operatorVersion, targetVersion: operatorVersion };
  pass.hasBegun = true;
  pass.mark(markDeploying(pass.status, deployStarted(versions), clock), {
    ...versions,
    phase: nextPhase(pass.status.phase ?? '', 'DeployStarted'),
  });
}
