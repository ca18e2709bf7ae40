import {
  CustomResourceDefinition,
  EventRecorder,
  OperatorEvents,
  annotationChanged,
  controllerFor,
  done,
  generationChanged,
  hashObject,
  isConditionTrue,
  isNotFound,
  or,
  requeueAfter,
  runControllers,
  silentLogger,
  systemClock,
  waitFor,
} from 'operator-builder';
import type {
  BuilderOptions,
  Client,
  Clock,
  ImmutablePolicy,
  Logger,
  Metrics,
} from 'operator-builder';
import { parseableTenantCrd } from './crd.js';
import { controllerName, ownedTypes, reconcileTenant } from './reconcile-tenant.js';
import { ParseableTenant } from './tenant.js';

const crdHashAnnotation = 'parseable.io/definition-hash';

/** Options of {@link runTenantOperator}. */
export interface TenantOperatorOptions {
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
  /** @defaultValue none */
  readonly metrics?: Metrics;
  /** Called once, when the caches are full and the controller works. */
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
  const live = await findCrd(client, metadata.name, signal);
  if (live?.metadata.annotations?.[crdHashAnnotation] === hash) return live;
  const annotations = { [crdHashAnnotation]: hash };
  const desired = { ...parseableTenantCrd, metadata: { ...metadata, annotations } };
  const applying = { fieldManager: controllerName, force: true, signal };
  return (await client.apply<CustomResourceDefinition>(desired, applying)).object;
}

async function findCrd(
  client: Client,
  name: string,
  signal?: AbortSignal,
): Promise<CustomResourceDefinition | undefined> {
  try {
    return await client.get(CustomResourceDefinition, { name }, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Reconciles every tenant until `signal` is aborted. */
export async function runTenantOperator(options: TenantOperatorOptions): Promise<void> {
  const { client, onImmutable = 'fail', clock = systemClock } = options;
  const { logger = silentLogger, emitter = new OperatorEvents({ logger }) } = options;
  const recorder = new EventRecorder({ client, controllerName, clock, logger });
  const { maxDeletions } = options;
  const shared = { recorder, emitter, clock, onImmutable, maxDeletions };
  // Our own status writes are no reason to look again.
  const predicate = or(generationChanged(), annotationChanged());
  const definition = ownedTypes
    .reduce((builder, type) => builder.owns(type), controllerFor(ParseableTenant, { predicate }))
    .complete(async ({ key, client: own, logger: log, signal: end }) => {
      const each = { ...shared, client: own, logger: log, signal: end };
      const delayMs = await reconcileTenant(key, each);
      return delayMs === undefined ? done() : requeueAfter(delayMs);
    });
  try {
    const cacheOptions = options.namespace === undefined ? {} : { namespaces: [options.namespace] };
    await runControllers({ ...options, controllers: [definition], cacheOptions, clock, logger });
  } finally {
    await recorder.stop();
  }
}
