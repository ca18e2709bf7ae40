import { findCondition } from '../../object/index.js';
import type { ObjectMeta, Pod, PodDisruptionBudget, Status } from '../../object/index.js';
import type { TransportResponse } from '../../system/index.js';
import { subjectOf, subresourceKind } from '../kinds/served-kind.js';
import { selects } from '../rules/metadata.js';
import { findObject, storageKey } from '../server-core.js';
import { failure, notFound } from '../status-error.js';
import type { StatusError } from '../status-error.js';
import { deleteObject, readDeleteOptions } from '../writes/delete-object.js';
import { objectResponse, readObject } from './body.js';
import { admitSubresource } from './request-admission.js';
import type { ResourceContext } from './resource-handler.js';

/** Handles POST to `pods/eviction`: a deletion that a disruption budget may refuse. */
export function handleEviction(context: ResourceContext): TransportResponse {
  const { core, kind, info, request, view } = context;
  const { value: body } = readObject(request, 'Eviction');
  const { deleteOptions } = body;
  const live = findObject(core, kind, info) as Pod | undefined;
  if (live === undefined) throw notFound(subjectOf(kind, info.name));
  const options = readDeleteOptions(deleteOptions, info.query);
  admitSubresource(context, {
    objectKind: subresourceKind(kind, { group: 'policy', version: 'v1', kind: 'Eviction' }),
    object: { ...body, apiVersion: 'policy/v1', kind: 'Eviction', metadata: metadataOf(info) },
    dryRun: options.dryRun,
  });
  if (!isUnguarded(live)) spendBudget(context, live, options.dryRun);
  const { namespace, name } = info;
  deleteObject(core, { kind, namespace, name, options });
  const success: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };
  return objectResponse(201, { ...success, code: 201 }, view.encoding);
}

function metadataOf({ namespace, name }: ResourceContext['info']): ObjectMeta {
  return { namespace, name };
}

/** Returns true for pods that do not serve, or no longer: no budget counts them. */
function isUnguarded({ metadata, status }: Pod): boolean {
  const isIdle = ['Pending', 'Succeeded', 'Failed'].includes(status?.phase ?? '');
  return isIdle || metadata.deletionTimestamp !== undefined;
}

/** Takes one disruption of the pod's budget. @throws StatusError the budget allows none */
function spendBudget(context: ResourceContext, pod: Pod, dryRun: boolean): void {
  const [budget, ...others] = budgetsOf(context, pod);
  if (budget === undefined) return;
  if (others.length > 0) {
    const one = 'more than one PodDisruptionBudget';
    const message = `This pod has ${one}, which the eviction subresource does not support.`;
    throw failure(500, '', message);
  }
  if (!isReady(pod) && mayLoseUnready(budget)) return;
  const { disruptionsAllowed = 0 } = budget.status ?? {};
  const why = refusalOf(budget);
  if (why !== undefined) throw tooManyEvictions(`The disruption budget ${why}`);
  if (dryRun) return;
  const { namespace = '', name = '' } = budget.metadata;
  const status = { ...budget.status, disruptionsAllowed: disruptionsAllowed - 1 };
  context.core.log.commit({
    collection: budgetCollection,
    key: storageKey(namespace, name),
    object: { ...budget, metadata: { ...budget.metadata }, status },
  });
}

const budgetCollection = 'policy/poddisruptionbudgets';

function budgetsOf({ core, info }: ResourceContext, pod: Pod): PodDisruptionBudget[] {
  const all = [...core.view.all(budgetCollection)] as PodDisruptionBudget[];
  return all.filter(({ metadata, spec }) => {
    const isNear = metadata.namespace === info.namespace;
    return isNear && selects(spec?.selector, pod.metadata.labels) === true;
  });
}

function isReady({ status }: Pod): boolean {
  return findCondition(status?.conditions ?? [], 'Ready')?.status === 'True';
}

/** Returns whether an unready pod may be evicted without a disruption of its budget. */
function mayLoseUnready({ spec, status }: PodDisruptionBudget): boolean {
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

/** Returns why a budget refuses an eviction, beginning with its name. */
function refusalOf({ metadata, status }: PodDisruptionBudget): string | undefined {
  const { name = '', generation = 0 } = metadata;
  if ((status?.observedGeneration ?? 0) < generation) {
    return `${name} is still being processed by the server.`;
  }
  const { disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  if (disruptionsAllowed > 0) return undefined;
  return currentHealthy <= desiredHealthy
    ? `${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
    : `${name} does not allow evicting pods currently`;
}

function tooManyEvictions(message: string): StatusError {
  const causes = [{ reason: 'DisruptionBudget', message }];
  const refusal = "Cannot evict pod as it would violate the pod's disruption budget.";
  return failure(429, 'TooManyRequests', refusal, { causes });
}
