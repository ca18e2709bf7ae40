import {
  ConfigMap,
  Deployment,
  PersistentVolumeClaim,
  Service,
  StatefulSet,
  getIfExists,
  isConflict,
  isControlledBy,
  isInvalid,
  isNotFound,
  isOperatorError,
  requeueAfterOf,
} from 'operator-builder';
import type {
  BuilderOptions,
  Client,
  Clock,
  ImmutablePolicy,
  KubernetesObject,
  Logger,
  ObjectKey,
  ObjectResult,
  OperatorEvents,
  Recorder,
  ResourceType,
} from 'operator-builder';
import isEqual from 'lodash/isEqual.js';
import { ParseableTenant } from './tenant.js';
import { tenantChain, tenantNodes } from './tenant-chain.js';
import type { TenantNode } from './tenant-chain.js';
import { tenantProblems } from './tenant-problems.js';
import { tenantStatus } from './tenant-status.js';
import type { ObservedNode, TenantObservation } from './tenant-status.js';

/** Field manager and reporting controller of everything that the operator writes. */
export const controllerName = 'parseable-operator';

/** `true` on a tenant: the claims of nodes that are not in the list (any more) go. */
export const pruneClaimsAnnotation = 'parseable.io/prune-claims';

/** The kinds that a tenant becomes. */
export const ownedTypes: readonly ResourceType<KubernetesObject>[] = [
  ConfigMap,
  Service,
  PersistentVolumeClaim,
  Deployment,
  StatefulSet,
];

/** What reconciling a tenant needs. */
export interface TenantReconcileOptions {
  readonly client: Client;
  readonly recorder: Recorder;
  readonly emitter: OperatorEvents;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** What to do about the immutable selectors of workloads that the original operator made. */
  readonly onImmutable: ImmutablePolicy;
  /** The most objects that one reconcile may prune; see the builder's. */
  readonly maxDeletions?: NonNullable<BuilderOptions['maxDeletions']> | undefined;
}

/**
 * Brings the tenant of `key` to what its spec says, and its status to what is there.
 * @returns milliseconds after which to look again, where no watch tells.
 */
export async function reconcileTenant(
  key: ObjectKey,
  options: TenantReconcileOptions,
): Promise<number | undefined> {
  const tenant = await getIfExists(options.client, ParseableTenant, key);
  // Garbage collection takes everything that a deleted tenant owned.
  if (tenant === undefined || tenant.metadata.deletionTimestamp !== undefined) return undefined;
  const problems = tenantProblems(tenant);
  if (problems.length > 0) {
    const observation = { nodes: [], results: [], problems };
    await writeStatus(tenant, observation, options);
    return undefined;
  }
  try {
    const results = await tenantChain(builderOptions(tenant, options)).reconcile();
    await observe(tenant, { results }, options);
    return requeueAfterOf(results);
  } catch (error) {
    // A conflict is retried at once and is nothing to report.
    if (!isConflict(error)) {
      await observe(tenant, { results: resultsOf(error), failure: String(error) }, options);
    }
    throw error;
  }
}

/** How a builder for `tenant` is made; `plan` uses it, too. */
export function builderOptions(
  tenant: ParseableTenant,
  options: TenantReconcileOptions,
): BuilderOptions & { owner: ParseableTenant } {
  const { client, recorder, emitter, clock, logger, signal, onImmutable } = options;
  const { maxDeletions } = options;
  return {
    ...{ client, recorder, emitter, clock, logger, signal, onImmutable, controllerName },
    ...(maxDeletions !== undefined && { maxDeletions }),
    owner: tenant,
    // The tenant's wish now, not that of the time when a claim was made.
    pruneClaims: tenant.metadata.annotations?.[pruneClaimsAnnotation] === 'true',
    owns: ownedTypes,
    rolloutOrder: tenant.spec.deploymentOrder,
    // The original operator wrote by updates, as controller-runtime's default manager.
    adoptManagers: ['manager'],
  };
}

function resultsOf(error: unknown): readonly ObjectResult[] {
  const known = isOperatorError(error, 'ReconcileFailed') && 'results' in error;
  return known ? (error.results as readonly ObjectResult[]) : [];
}

async function observe(
  tenant: ParseableTenant,
  found: { results: readonly ObjectResult[]; failure?: string },
  options: TenantReconcileOptions,
): Promise<void> {
  const nodes = await Promise.all(
    tenantNodes(tenant).map((node) => observedNode(tenant, node, options.client)),
  );
  await writeStatus(tenant, { ...found, nodes, problems: [] }, options);
}

async function observedNode(
  tenant: ParseableTenant,
  node: TenantNode,
  client: Client,
): Promise<ObservedNode> {
  const key = { name: node.names.workload, namespace: tenant.metadata.namespace };
  const workload =
    node.kind === 'Deployment'
      ? await getIfExists(client, Deployment, key)
      : await getIfExists(client, StatefulSet, key);
  // Another tenant's workload of that name is no node of this one.
  const own = workload !== undefined && isControlledBy(workload, tenant);
  return { node, workload: own ? workload : undefined };
}

async function writeStatus(
  tenant: ParseableTenant,
  observation: TenantObservation,
  options: TenantReconcileOptions,
): Promise<void> {
  const { client, clock, recorder, signal } = options;
  const status = tenantStatus(tenant, observation, clock);
  if (isEqual(status, tenant.status)) return;
  const { name, namespace, uid } = tenant.metadata;
  const metadata = {
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    // With the UID a tenant that was deleted and made again is never written for the old one.
    ...(uid !== undefined && { uid }),
  };
  const object = { apiVersion: tenant.apiVersion, kind: tenant.kind, metadata, status };
  const applying = { subresource: 'status', fieldManager: controllerName, force: true, signal };
  try {
    await client.apply<KubernetesObject>(object, applying);
  } catch (error) {
    if (isGoneMeanwhile(error)) return;
    throw error;
  }
  announceProblems(tenant, observation, recorder);
}

/** The tenant was deleted (404, or a 409 for the UID), or deleted and made again (422 on the UID). */
function isGoneMeanwhile(error: unknown): boolean {
  return isNotFound(error) || isConflict(error) || isInvalid(error);
}

/** One event for each new set of problems, not one for each reconcile. */
function announceProblems(
  tenant: ParseableTenant,
  { problems }: TenantObservation,
  recorder: Recorder,
): void {
  if (problems.length === 0) return;
  const note = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
  const before = tenant.status?.conditions?.find(({ type }) => type === 'Degraded');
  if (before?.status === 'True' && before.message === note) return;
  const action = 'Validate';
  recorder.record({ regarding: tenant, type: 'Warning', reason: 'InvalidSpec', action, note });
}
