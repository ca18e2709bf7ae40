import type { Phase } from '../lifecycle-status.js';

/** What moves a configuration from phase to phase. */
export type LifecycleEvent =
  /** Its first deployment begins. */
  | 'DeployStarted'
  /** Its status contradicts itself: it says that something was deployed, and not of which version. */
  | 'ConfigError'
  /** Its spec was changed after a `ConfigError`. */
  | 'SpecChanged'
  /** A newer operator met it. */
  | 'UpgradeStarted'
  /** Every object is as it should be, every workload has rolled out, what is superfluous is gone. */
  | 'DeployCompleted'
  /** It is being deleted. */
  | 'DeletionStarted'
  /** Everything that it owned is gone. */
  | 'DeletionCompleted';

/** One arrow of the state machine. */
export interface Transition {
  readonly from: readonly Phase[];
  readonly on: LifecycleEvent;
  readonly to: Phase;
}

/** The state machine: what is not here does not happen. The diagram in the docs is drawn from it. */
export const transitions: readonly Transition[] = [
  { from: [''], on: 'DeployStarted', to: 'Deploying' },
  {
    // The last two: of a configuration that is not being deleted, as one from a backup.
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

/** The phase after `event`; `phase` itself where the event does not move it. */
export function nextPhase(phase: Phase, event: LifecycleEvent): Phase {
  return transitions.find(({ from, on }) => on === event && from.includes(phase))?.to ?? phase;
}
