import { findCondition, formatTime, placeCondition, setCondition } from '../../object/index.js';
import type { Condition, Pod, PodDisruptionBudget } from '../../object/index.js';
import type { TransportResponse } from '../../system/index.js';
import { subjectOf, subresourceKind } from '../kinds/served-kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { selects } from '../rules/metadata.js';
import { findObject, storageKey } from '../server-core.js';
import { badRequest, failure, notFound, otherNamespace } from '../status-error.js';
import type { StatusError } from '../status-error.js';
import { deleteObject, readDeleteOptions } from '../writes/delete-object.js';
import type { DeleteOptions } from '../writes/delete-object.js';
import { updateObject } from '../writes/update-object.js';
import { decodeObject } from '../writes/write-request.js';
import { createdResponse, readObject } from './body.js';
import { admitSubresource } from './request-admission.js';
import type { ResourceContext } from './resource-handler.js';
import { readWriteOptions, reviewedOptions } from './write-options.js';

/** The fields of a `policy/v1` Eviction. */
interface Eviction {
  readonly metadata: { readonly name?: string; readonly namespace?: string };
  readonly deleteOptions?: { readonly dryRun?: readonly string[] };
}

/** Handles POST to `pods/eviction`: a deletion that a disruption budget may refuse. */
export function handleEviction(context: ResourceContext): TransportResponse {
  const { core, kind, info, view } = context;
  const { deleteOptions = {} } = readEviction(context);
  const live = findObject(core, kind, info) as Pod | undefined;
  if (live === undefined) throw notFound(subjectOf(kind, info.name));
  const { dryRun: own = [] } = deleteOptions;
  const dryRuns = own.length > 0 ? own : info.query.getAll('dryRun');
  if (!isUnguarded(live)) spendBudget(context, live, dryRuns.length > 0);
  const options = readDeleteOptions({ ...deleteOptions, dryRun: dryRuns }, info.query);
  deletePod(context, live, options);
  return createdResponse(view.encoding);
}

/** @throws StatusError 400 not an eviction of this pod, or the error of a webhook */
function readEviction(context: ResourceContext): Eviction {
  const { info, request, warn } = context;
  const given = readWriteOptions(info.query, 'CreateOptions');
  const { fieldValidation, dryRun } = given;
  const kind = subresourceKind(context.kind, { group: 'policy', version: 'v1', kind: 'Eviction' });
  const raw = readObject(request, 'Eviction');
  // The real server still accepts the first version of evictions.
  const isOld = raw.value['apiVersion'] === 'policy/v1beta1';
  const value = isOld ? { ...raw.value, apiVersion: 'policy/v1' } : raw.value;
  const object = decodeObject({ kind, fieldValidation, warn }, { ...raw, value });
  const { name, namespace = info.namespace } = object.metadata;
  if (namespace !== info.namespace) throw otherNamespace();
  if (name !== info.name) throw badRequest('name in URL does not match name in Eviction object');
  const named = { ...object, metadata: { ...object.metadata, namespace } };
  const options = reviewedOptions(info.query, given);
  return admitSubresource(context, { objectKind: kind, object: named, dryRun, options });
}

/** Records the reason in a condition of a pod, then deletes the pod. */
function deletePod(context: ResourceContext, pod: Pod, options: DeleteOptions): void {
  const { core, kind, info } = context;
  const { namespace, name } = info;
  // First a dry run: the condition is written only if the deletion will succeed.
  deleteObject(core, { kind, namespace, name, options: { ...options, dryRun: true } });
  if (options.dryRun) return;
  const { status } = pod;
  const before = (status?.conditions ?? []) as readonly Condition[];
  const conditions = placeCondition(before, disruptionTarget, core.clock);
  if (findCondition(before, disruptionTarget.type)?.status !== disruptionTarget.status) {
    const { object } = kind.decode({ ...pod, status: { ...status, conditions } });
    core.log.commit({
      collection: kind.collection,
      key: storageKey(namespace, name),
      object,
    });
  }
  deleteObject(core, { kind, namespace, name, options: { ...options, preconditions: undefined } });
}

const disruptionTarget = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
  lastProbeTime: null,
} as const;

/** Returns true for pods that do not run yet or no longer run: disruption budgets do not count them. */
function isUnguarded({ metadata, status }: Pod): boolean {
  const isIdle = ['Pending', 'Succeeded', 'Failed'].includes(status?.phase ?? '');
  return isIdle || metadata.deletionTimestamp !== undefined;
}

/** Takes one disruption of the pod's budget. @throws StatusError the budget allows none */
function spendBudget(context: ResourceContext, pod: Pod, dryRun: boolean): void {
  const kind = context.core.kinds.find('policy', 'v1', 'poddisruptionbudgets');
  const [budget, ...others] = kind === undefined ? [] : budgetsOf(context, kind, pod);
  if (kind === undefined || budget === undefined) return;
  if (others.length > 0) {
    const one = 'more than one PodDisruptionBudget';
    const message = `This pod has ${one}, which the eviction subresource does not support.`;
    throw failure(500, '', message);
  }
  if (!isReady(pod) && mayLoseUnready(budget)) return;
  checkBudget(budget);
  if (!dryRun) writeSpent(context, kind, { budget, pod });
}

/** Writes the status of a budget with one disruption less. */
function writeSpent(
  { core }: ResourceContext,
  kind: ServedKind,
  { budget, pod }: { readonly budget: PodDisruptionBudget; readonly pod: Pod },
): void {
  const { metadata, status } = budget;
  const { conditions = [], disruptionsAllowed = 0, observedGeneration = 0 } = status ?? {};
  const allowed = disruptionsAllowed - 1;
  const condition = {
    ...{ type: 'DisruptionAllowed', observedGeneration },
    status: allowed > 0 ? 'True' : 'False',
    reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
  } as const;
  const spent = {
    ...budget,
    status: {
      ...status,
      disruptedPods: {
        ...status?.disruptedPods,
        [pod.metadata.name ?? '']: formatTime(core.clock.now()),
      },
      disruptionsAllowed: allowed,
      conditions: setCondition(conditions as readonly Condition[], condition, core.clock),
    },
  };
  const { name = '', namespace = '' } = metadata;
  const request = {
    ...{ kind, name, namespace, subresource: 'status', manager: 'kube-apiserver' },
    ...({ dryRun: false, fieldValidation: 'Ignore', warn: () => undefined } as const),
  };
  const next = decodeObject(request, { value: spent });
  updateObject(core, { request, live: budget, next });
}

function budgetsOf(
  { core, info }: ResourceContext,
  kind: ServedKind,
  pod: Pod,
): PodDisruptionBudget[] {
  const all = [...core.view.all(kind.collection)] as PodDisruptionBudget[];
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

/** @throws StatusError 429: the budget allows no disruption now */
function checkBudget({ metadata, status }: PodDisruptionBudget): void {
  const { name = '', generation = 0 } = metadata;
  if ((status?.observedGeneration ?? 0) < generation) {
    throw tooManyEvictions(`${name} is still being processed by the server.`, 10);
  }
  const { disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  if (disruptionsAllowed > 0) return;
  const condition = findCondition(status?.conditions ?? [], 'DisruptionAllowed');
  if (condition?.status === 'False' && condition.reason === 'SyncFailed') {
    const why = `it failed sync: ${condition.message}`;
    throw tooManyEvictions(`${name} does not allow evicting pods currently because ${why}`);
  }
  throw tooManyEvictions(
    currentHealthy <= desiredHealthy
      ? `${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
      : `${name} does not allow evicting pods currently`,
  );
}

/** Returns the error 429 of an eviction. @param why - the reason, which begins with the name of the budget */
function tooManyEvictions(why: string, retryAfterSeconds?: number): StatusError {
  const causes = [{ reason: 'DisruptionBudget', message: `The disruption budget ${why}` }];
  const refusal = "Cannot evict pod as it would violate the pod's disruption budget.";
  const details = { causes, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  return failure(429, 'TooManyRequests', refusal, details);
}
