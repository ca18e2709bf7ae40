import {
  Event,
  EventRecorder,
  Manager,
  silentLogger,
  systemClock,
  systemRandom,
} from 'operator-builder';
import type {
  Client,
  Clock,
  Logger,
  ManagerOptions,
  ObjectEvent,
  Random,
  Recorder,
  RequiredAccess,
} from 'operator-builder';
import { LifecycleReconciler, lifecycleController } from 'operator-builder/lifecycle';
import { installerOf } from '../parseable/install-crd.js';
import { releaseOf } from './release.js';
import { SampleConfig } from './sample-config.js';
import { ownedTypes, sampleManager } from './sample-manager.js';

/** What it calls itself: in events, as the owner of fields, and as the name of its Lease. */
export const operatorName = 'sample-operator';

/** What a deployed operator has beside its controller. */
type Surroundings = Pick<
  ManagerOptions,
  'leaderElection' | 'health' | 'metrics' | 'rbacPreflight' | 'tracer'
>;

/** Options of {@link runSampleOperator}. */
export interface SampleOperatorOptions extends Surroundings {
  readonly client: Client;
  /** Which release of the operator it is, for example `1.0.0`. */
  readonly version: string;
  /** Where the operator is, and what it deploys. */
  readonly namespace: string;
  /** Stops the operator: what runs is finished, nothing new begins. */
  readonly signal: AbortSignal;
  /** Told each event, before it is written. @defaultValue nobody */
  readonly onEvent?: ((event: ObjectEvent) => void) | undefined;
  /** @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /** @defaultValue the machine's */
  readonly random?: Random | undefined;
  /** @defaultValue drops everything */
  readonly logger?: Logger | undefined;
  /** Called once, when the caches are full, and it works or stands by. */
  readonly onReady?: (() => void) | undefined;
}

/** What the operator does beside watching the kinds of its controller. */
const requires: readonly RequiredAccess[] = [
  { type: SampleConfig, verbs: ['get', 'list', 'watch', 'patch'] },
  { type: SampleConfig, verbs: ['patch'], subresource: 'status' },
  ...ownedTypes.map((type): RequiredAccess => {
    return { type, verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'] };
  }),
  { type: Event, verbs: ['create', 'patch'] },
];

/**
 * Installs the custom resource, then looks after every SampleConfig until `signal` is aborted.
 * @throws TypeError there is no such release.
 */
export async function runSampleOperator(options: SampleOperatorOptions): Promise<void> {
  const { client, signal, onReady, rbacPreflight = 'off' } = options;
  const { clock = systemClock, random = systemRandom, logger = silentLogger } = options;
  const { leaderElection, health, metrics, tracer } = options;
  const events = new EventRecorder({ client, controllerName: operatorName, clock, logger });
  const manager = new Manager({
    ...{ client, clock, random, logger, leaderElection, health, metrics, tracer },
    ...{ rbacPreflight, requires },
  });
  manager.add(installerOf(SampleConfig.crd, { client, clock, fieldManager: operatorName }));
  manager.add(sampleController({ ...options, clock, logger }, events));
  const started = new AbortController();
  const ready = manager.whenStarted(started.signal).then(onReady, () => undefined);
  try {
    await manager.run(signal);
  } finally {
    started.abort();
    await ready;
    await events.stop();
  }
}

function sampleController(options: SampleOperatorOptions, events: Recorder) {
  const { client, version, namespace, onEvent, clock, logger } = options;
  const reconciler = new LifecycleReconciler({
    ...{ client, namespace, clock, logger },
    crManager: sampleManager(releaseOf(version), namespace),
    recorder: onEvent === undefined ? events : telling(onEvent, events),
  });
  return lifecycleController(reconciler, { operatorVersion: version });
}

function telling(onEvent: (event: ObjectEvent) => void, events: Recorder): Recorder {
  return {
    record: (event) => {
      onEvent(event);
      events.record(event);
    },
  };
}
