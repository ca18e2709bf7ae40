import {
  EventRecorder,
  Event,
  Manager,
  OperatorEvents,
  Pod,
  annotationChanged,
  controllerFor,
  done,
  generationChanged,
  or,
  requeueAfter,
  silentLogger,
  systemClock,
  ownVerbs,
} from 'operator-builder';
import type {
  BuilderOptions,
  Client,
  Clock,
  Controller,
  ImmutablePolicy,
  Logger,
  ManagerOptions,
  RequiredAccess,
} from 'operator-builder';
import { crdInstaller } from './install-crd.js';
import { controllerName, ownedTypes, reconcileTenant } from './reconcile-tenant.js';
import { ParseableTenant } from './tenant.js';

export { installCrd } from './install-crd.js';

/** What a deployed operator has beside its controller. */
type Surroundings = Pick<
  ManagerOptions,
  'leaderElection' | 'health' | 'metrics' | 'webhooks' | 'rbacPreflight' | 'tracer'
>;

/** Options of {@link runTenantOperator}. */
export interface TenantOperatorOptions extends Surroundings {
  readonly client: Client;
  /** Stops the operator: what runs is finished, nothing new begins. */
  readonly signal: AbortSignal;
  /** Whether it installs its custom resource, before anything else. @defaultValue false */
  readonly installsCrd?: boolean;
  /** Only tenants of this namespace. @defaultValue all */
  readonly namespace?: string;
  /** Told what is done. @defaultValue one of its own */
  readonly emitter?: OperatorEvents;
  /** What to do about immutable fields of workloads that exist. @defaultValue 'fail' */
  readonly onImmutable?: ImmutablePolicy;
  /** The most objects of a tenant that one reconcile may prune. @defaultValue half, at least 5 */
  readonly maxDeletions?: NonNullable<BuilderOptions['maxDeletions']>;
  /** @defaultValue the machine's */
  readonly clock?: Clock;
  /** @defaultValue silent */
  readonly logger?: Logger;
  /** Called once, when the caches are full, and it works or stands by. */
  readonly onReady?: () => void;
}

/** What the operator does beside watching the kinds of its controller. */
const requires: readonly RequiredAccess[] = [
  { type: ParseableTenant, verbs: ['patch'], subresource: 'status' },
  ...ownedTypes.map((type) => ({ type, verbs: ownVerbs })),
  { type: Pod, verbs: ['list'] },
  { type: Event, verbs: ['create', 'patch'] },
];

/** Reconciles every tenant until `signal` is aborted. */
export async function runTenantOperator(options: TenantOperatorOptions): Promise<void> {
  const { client, clock = systemClock, logger = silentLogger, signal, onReady } = options;
  const { leaderElection, health, metrics, webhooks, tracer } = options;
  const { namespace, rbacPreflight = 'off', installsCrd = false } = options;
  const manager = new Manager({
    ...{ client, clock, logger, leaderElection, health, metrics, webhooks, tracer },
    ...{ rbacPreflight, requires },
    ...(namespace !== undefined && { cacheOptions: { namespaces: [namespace] } }),
  });
  const recorder = new EventRecorder({ client, controllerName, clock, logger });
  if (installsCrd) manager.add(crdInstaller(client, clock));
  manager.add(tenantController(options, recorder));
  const started = new AbortController();
  const ready = manager.whenStarted(started.signal).then(onReady, () => undefined);
  try {
    await manager.run(signal);
  } finally {
    started.abort();
    await ready;
    await recorder.stop();
  }
}

function tenantController(options: TenantOperatorOptions, recorder: EventRecorder): Controller {
  const { onImmutable = 'fail', clock = systemClock, logger = silentLogger } = options;
  const { maxDeletions, emitter = new OperatorEvents({ logger }) } = options;
  const shared = { recorder, emitter, clock, onImmutable, maxDeletions };
  // Our own status writes are no reason to look again.
  const predicate = or(generationChanged(), annotationChanged());
  return ownedTypes
    .reduce((builder, type) => builder.owns(type), controllerFor(ParseableTenant, { predicate }))
    .complete(async ({ key, client, logger: log, signal }) => {
      const delayMs = await reconcileTenant(key, { ...shared, client, logger: log, signal });
      return delayMs === undefined ? done() : requeueAfter(delayMs);
    });
}
