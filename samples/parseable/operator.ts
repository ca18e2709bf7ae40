import {
  CustomResourceDefinition,
  EventRecorder,
  Event,
  Manager,
  OperatorEvents,
  Pod,
  annotationChanged,
  controllerFor,
  done,
  generationChanged,
  getIfExists,
  hashObject,
  isConditionTrue,
  or,
  requeueAfter,
  silentLogger,
  systemClock,
  ownVerbs,
  waitFor,
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
import { parseableTenantCrd } from './crd.js';
import { controllerName, ownedTypes, reconcileTenant } from './reconcile-tenant.js';
import { ParseableTenant } from './tenant.js';

const crdHashAnnotation = 'parseable.io/definition-hash';

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

/** Installs the custom resource, or brings it up to date, and waits until it is served. */
export async function installCrd(client: Client, signal?: AbortSignal): Promise<void> {
  const object = await currentCrd(client, signal);
  const established = (crd: CustomResourceDefinition | undefined): boolean =>
    isConditionTrue(crd?.status?.conditions, 'Established');
  await waitFor(client, object, { until: established, timeoutMs: 30_000, signal });
}

/** Writes only where the definition changed, so that a restart writes nothing. */
async function currentCrd(client: Client, signal?: AbortSignal): Promise<CustomResourceDefinition> {
  const hash = hashObject(parseableTenantCrd);
  const { metadata } = parseableTenantCrd;
  const live = await getIfExists(client, CustomResourceDefinition, metadata, { signal });
  if (live?.metadata.annotations?.[crdHashAnnotation] === hash) return live;
  const annotations = { [crdHashAnnotation]: hash };
  const desired = { ...parseableTenantCrd, metadata: { ...metadata, annotations } };
  const applying = { fieldManager: controllerName, force: true, signal };
  return (await client.apply<CustomResourceDefinition>(desired, applying)).object;
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
  const { namespace, rbacPreflight = 'off' } = options;
  const manager = new Manager({
    ...{ client, clock, logger, leaderElection, health, metrics, webhooks, tracer },
    ...{ rbacPreflight, requires },
    ...(namespace !== undefined && { cacheOptions: { namespaces: [namespace] } }),
  });
  const recorder = new EventRecorder({ client, controllerName, clock, logger });
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
