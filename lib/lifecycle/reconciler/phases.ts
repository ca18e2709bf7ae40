import { asRead } from '../../apply/index.js';
import omit from 'lodash/omit.js';
import { hashObject } from '../../hash/index.js';
import { keyOf, labelValueOf } from '../../object/index.js';
import {
  deployCompleted,
  deployStarted,
  upgradeStarted,
  markDeploying,
  markFailed,
  markHealthy,
  markUpgradeHealingDegraded,
} from '../conditions.js';
import type { Marked } from '../conditions.js';
import type { Phase } from '../lifecycle-status.js';
import { isDowngrade, isSameVersion, shouldTakeUpdatePath } from '../versions.js';
import { isOurs } from './survey.js';
import type { Pass } from './pass.js';
import { raise, settle } from './configuration.js';
import type { SurveyedObject } from './survey.js';
import { callUserCode } from './user-code.js';

/** An event that moves a configuration from phase to phase. */
export type LifecycleEvent =
  /** The first deployment of the configuration begins. */
  | 'DeployStarted'
  /** The status contradicts itself: it shows a deployment, but no deployed version. */
  | 'ConfigError'
  /** Its spec was changed after a `ConfigError`. */
  | 'SpecChanged'
  /** A newer operator reconciles it. */
  | 'UpgradeStarted'
  /** Every object is applied, every workload has rolled out, and superfluous objects are gone. */
  | 'DeployCompleted'
  /** The deletion of the configuration begins. */
  | 'DeletionStarted'
  /** All owned objects are gone. */
  | 'DeletionCompleted';

/** A transition of the state machine. */
export interface Transition {
  readonly from: readonly Phase[];
  readonly on: LifecycleEvent;
  readonly to: Phase;
}

/** The state machine; no other transitions exist. The diagram in the docs is generated from it. */
export const transitions: readonly Transition[] = [
  { from: [''], on: 'DeployStarted', to: 'Deploying' },
  {
    // `Deleting` and `Deleted`: for a configuration that is not being deleted, for example one from a backup.
    from: ['Deploying', 'Deployed', 'Upgrading', 'Deleting', 'Deleted'],
    on: 'ConfigError',
    to: 'Error',
  },
  { from: ['Error'], on: 'SpecChanged', to: '' },
  { from: ['Deployed', 'Upgrading'], on: 'UpgradeStarted', to: 'Upgrading' },
  { from: ['Deploying', 'Upgrading'], on: 'DeployCompleted', to: 'Deployed' },
  {
    from: ['', 'Deploying', 'Deployed', 'Upgrading', 'Error'],
    on: 'DeletionStarted',
    to: 'Deleting',
  },
  { from: ['Deleting'], on: 'DeletionCompleted', to: 'Deleted' },
];

/** Returns the phase after `event`; `phase` itself if the event has no transition. */
export function nextPhase(phase: Phase, event: LifecycleEvent): Phase {
  return transitions.find(({ from, on }) => on === event && from.includes(phase))?.to ?? phase;
}

/** A hash of the spec of a configuration whose status contradicted itself. */
const configErrorAnnotation = 'operator-builder.io/config-error';

/**
 * Whether the status shows a deployment without a version, so that the next step is undefined. A deletion
 * phase without a deletion, as in an object from a backup, is contradictory too.
 */
export function isContradictory({ settings, cr, status }: Pass): boolean {
  const { phase = '' } = status;
  if (phase === '') return false;
  const isRunning = ['Deploying', 'Deployed', 'Upgrading'].includes(phase);
  return !isRunning || settings.crManager.isCreating(cr);
}

/**
 * Sets the phase Error for a contradictory configuration, until its spec changes; then the lifecycle
 * restarts.
 * @returns whether the lifecycle restarts
 */
export async function settleContradiction(pass: Pass): Promise<boolean> {
  const noted = pass.cr.metadata.annotations?.[configErrorAnnotation];
  // Uses no generation: without a subresource, the generation also counts changes of the status.
  const spec = hashObject(omit(pass.cr, ['apiVersion', 'kind', 'metadata', 'status']));
  const { phase = '' } = pass.status;
  if (phase === 'Error' && noted === spec) return false;
  if (phase === 'Error' && noted !== undefined) {
    pass.status = { ...pass.status, phase: nextPhase(phase, 'SpecChanged') };
    return true;
  }
  const why = pass.settings.crManager.isCreating(pass.cr)
    ? 'the deployed version is missing'
    : 'it is not being deleted';
  const message = `the phase is ${phase}, and ${why}: change the spec to start again`;
  const marked = markFailed(pass.status, { reason: 'ConfigError', message }, pass.settings.clock);
  // Write the annotation first: a phase Error without it would be reported twice.
  await noteSpec(pass, spec);
  pass.mark(marked, { phase: 'Error' });
  return false;
}

async function noteSpec(pass: Pass, spec: string): Promise<void> {
  const { cr, live, settings, signal } = pass;
  if (cr.metadata.annotations?.[configErrorAnnotation] === spec) return;
  const body = { metadata: { ...asRead(cr), annotations: { [configErrorAnnotation]: spec } } };
  pass.cr = await live.patch(
    settings.crManager.type,
    keyOf(cr),
    { type: 'merge', body },
    { signal },
  );
}

export async function beginDeployment(pass: Pass): Promise<void> {
  const { preCreateHook, clock } = pass.settings;
  await callUserCode(pass, { what: 'preCreateHook' }, (signal) =>
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

/**
 * Whether a newer operator has deployed the system. If so, the older operator reports it once and changes
 * nothing else; phase and versions stay.
 */
export function refusesDowngrade(pass: Pass): boolean {
  return refuses(pass, () => {
    shouldTakeUpdatePath(pass.operatorVersion, pass.status.observedVersion ?? '', false);
    // Without a status, only the objects show the deployed version.
    if (!pass.isCreating) settle(pass, 'DowngradeRefused');
  });
}

/**
 * Whether the labels of the objects show a newer version, although the status of the configuration was lost. An older
 * operator then refuses to work, too.
 */
export function refusesOlderThanObjects(pass: Pass, surveyed: readonly SurveyedObject[]): boolean {
  const { createVersionLabel, updateVersionLabel } = pass.settings;
  const own = surveyed.flatMap(({ current }) =>
    current !== undefined && isOurs(pass, current) ? [current.metadata.labels ?? {}] : [],
  );
  const versions = own.flatMap(
    (labels) => labels[updateVersionLabel] ?? labels[createVersionLabel] ?? [],
  );
  // The label of a version with build metadata looks like that of a pre-release, which is older.
  const others = versions.filter((version) => version !== labelValueOf(pass.operatorVersion));
  return refuses(pass, () => {
    for (const version of others) shouldTakeUpdatePath(pass.operatorVersion, version, false);
    settle(pass, 'DowngradeRefused');
  });
}

/** Begins an upgrade or a rollback, if the operator's version is not the one being deployed. */
export function beginUpgrade(pass: Pass): void {
  const { operatorVersion, settings, status } = pass;
  const { phase = '', targetVersion = '' } = status;
  const versions = { operatorVersion, targetVersion: operatorVersion };
  const isUnderWay = phase === 'Upgrading' && isSameVersion(targetVersion, operatorVersion);
  const isRollback = phase === 'Upgrading' && !isNewer(pass);
  if (isUnderWay || !(isNewer(pass) || isRollback)) {
    // This operator may continue a deployment that an operator of another version began.
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
  addEventOnce(pass, { event: marked.event, other: targetVersion });
}

/**
 * Records the event once for each version that takes over a configuration. Two competing operators would
 * repeat their events forever: the second time, one event reports the competition instead.
 */
function addEventOnce(
  pass: Pass,
  { event, other }: { readonly event: Marked['event']; readonly other: string },
): void {
  const { uid = '' } = pass.cr.metadata;
  const { begun } = pass.settings;
  const versions = begun.get(uid) ?? new Map<string, number>();
  const times = (versions.get(pass.operatorVersion) ?? 0) + 1;
  pass.onceWritten(() => void begun.set(uid, versions.set(pass.operatorVersion, times)));
  if (times === 1) pass.addStatusEvent(event);
  if (times !== 2) return;
  const message = `an operator of version ${other} is deploying it, too: run one operator at a time`;
  pass.addStatusEvent({ type: 'Warning', reason: 'OperatorsCompete', message });
}

function isNewer({ operatorVersion, status }: Pass): boolean {
  const { phase = '', observedVersion = '' } = status;
  return shouldTakeUpdatePath(operatorVersion, observedVersion, phase === 'Deploying');
}

function refuses(pass: Pass, check: () => void): boolean {
  try {
    check();
    return false;
  } catch (error) {
    if (!isDowngrade(error)) throw error;
    const { message } = error;
    if (raise(pass, 'DowngradeRefused', { reason: 'Downgrade', message })) {
      pass.addStatusEvent({ type: 'Warning', reason: 'DowngradeRefused', message });
    }
    return true;
  }
}

/** Completes a deployment or an upgrade to the operator's version. */
export function complete(pass: Pass): void {
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
