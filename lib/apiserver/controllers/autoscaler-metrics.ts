import type { V2HorizontalPodAutoscaler } from '@kubernetes/client-node';
import { formatQuantity, parseQuantity } from '../../object/index.js';
import type { Pod, Wire } from '../../object/index.js';
import { thousandths } from './metric-rules.js';
import type { MetricRules } from './metric-rules.js';
import { isPodReady, isPodTerminating } from './pod-state.js';

type Autoscaler = Wire<V2HorizontalPodAutoscaler>;
type MetricSpec = NonNullable<NonNullable<Autoscaler['spec']>['metrics']>[number];
export type MetricStatus = NonNullable<NonNullable<Autoscaler['status']>['currentMetrics']>[number];

/** The target of an autoscaler and its metrics. */
export interface Measured {
  readonly namespace: string;
  readonly pods: readonly Pod[];
  /** `spec.replicas` of the target. */
  readonly replicas: number;
  /** `status.replicas` of the target. */
  readonly statusReplicas: number;
  readonly metrics: MetricRules;
}

/** The replicas that result from one metric, or the reason why it cannot be computed. */
export type Proposal =
  | { readonly replicas: number; readonly name: string; readonly status: MetricStatus }
  | {
      readonly reason: string;
      readonly problem: string;
      /** The kind of metric, as in `failed to get cpu resource metric value`. */
      readonly subject: string;
    };

// As in kube-controller-manager: deviations up to this share of the target are ignored.
const tolerance = 0.1;

/** Computes the replicas for one metric, as kube-controller-manager does. */
export function proposalFor(spec: MetricSpec, measured: Measured): Proposal {
  const { resource, containerResource, pods, object, external } = spec;
  if (resource !== undefined) return resourceProposal(spec, resource, measured);
  if (containerResource !== undefined) return resourceProposal(spec, containerResource, measured);
  if (pods !== undefined) return podsProposal(pods, measured);
  if (object !== undefined) {
    const { metric, describedObject, target } = object;
    const given = { metric: metric.name, target, measured };
    const found = sharedProposal(given, `${describedObject.kind} metric ${metric.name}`);
    if (found === undefined) {
      const { namespace } = measured;
      const where = `${describedObject.kind} ${namespace}/${describedObject.name}`;
      const why = `unable to get metric ${metric.name}: ${unserved('custom', metric.name)} on ${where}`;
      const problem = `failed to get ${metric.name} object metric: ${why}`;
      return { reason: 'FailedGetObjectMetric', problem, subject: 'object' };
    }
    const status = { type: 'Object', object: { metric, describedObject, current: found.current } };
    return { ...found, status };
  }
  return externalProposal(external, measured);
}

function externalProposal(external: MetricSpec['external'], measured: Measured): Proposal {
  const { metric = { name: '' }, target = { type: 'Value' } } = external ?? {};
  const given = { metric: metric.name, target, measured };
  const found = sharedProposal(given, `external metric ${metric.name}(nil)`);
  if (found !== undefined) {
    return { ...found, status: { type: 'External', external: { metric, current: found.current } } };
  }
  const why = `unable to get external metric ${measured.namespace}/${metric.name}/nil`;
  const problem = `failed to get external metric ${metric.name}: ${why}: ${unserved('external', metric.name)}`;
  return { reason: 'FailedGetExternalMetric', problem, subject: `${metric.name} external` };
}

type Target = NonNullable<MetricSpec['pods']>['target'];
type Resource = NonNullable<MetricSpec['resource']> & { readonly container?: string };

function resourceProposal(spec: MetricSpec, resource: Resource, measured: Measured): Proposal {
  const { name, target, container } = resource;
  const { averageUtilization, averageValue } = target;
  const what = averageUtilization === undefined ? 'usage' : 'utilization';
  const reason = `FailedGet${spec.type}Metric`;
  const subject = container === undefined ? `${name} resource` : `${container} container`;
  const failed = (why: string): Proposal => ({
    reason,
    problem: `failed to get ${name} ${what}: ${why}`,
    subject,
  });
  const used = measured.metrics.ofPods(name, measured.pods);
  if (used.size === 0) {
    const isServed = measured.metrics.active.length > 0;
    const why = isServed
      ? 'no metrics returned from resource metrics API'
      : unserved('resource', name);
    return failed(`unable to get metrics for resource ${name}: ${why}`);
  }
  const requests = new Map<Pod, number>();
  if (averageUtilization !== undefined) {
    for (const pod of measured.pods) {
      const request = requestOf(pod, name, container);
      if (typeof request === 'string') return failed(request);
      requests.set(pod, request);
    }
  }
  const wanted = averageUtilization ?? thousandths(averageValue ?? 0);
  const computed = replicasFor(used, measured, {
    target: wanted,
    requests: averageUtilization === undefined ? undefined : requests,
    isCpu: name === 'cpu',
  });
  if (typeof computed === 'string') return failed(computed);
  const { replicas, usage, average } = computed;
  const current = {
    ...(averageUtilization !== undefined && { averageUtilization: usage }),
    averageValue: quantityText(average, name === 'memory'),
  };
  const member = container === undefined ? 'resource' : 'containerResource';
  const shown = container === undefined ? { name } : { name, container };
  const status = { type: spec.type, [member]: { ...shown, current } } as MetricStatus;
  const infix = container === undefined ? '' : 'container ';
  const text = `${name} ${infix}resource utilization (percentage of request)`;
  return { replicas, status, name: averageUtilization === undefined ? `${name} resource` : text };
}

function podsProposal(
  { metric, target }: NonNullable<MetricSpec['pods']>,
  measured: Measured,
): Proposal {
  const used = measured.metrics.ofPods(metric.name, measured.pods);
  const options = { target: thousandths(target.averageValue ?? 0), requests: undefined };
  const computed =
    used.size === 0
      ? `unable to get metric ${metric.name}: ${unserved('custom', metric.name)}`
      : replicasFor(used, measured, { ...options, isCpu: false });
  if (typeof computed === 'string') {
    const problem = `failed to get pods metric value: ${computed}`;
    return { reason: 'FailedGetPodsMetric', problem, subject: 'pods' };
  }
  const { replicas, average } = computed;
  const current = { averageValue: quantityText(average, false) };
  const status = { type: 'Pods', pods: { metric, current } };
  return { replicas, status, name: `pods metric ${metric.name}` };
}

/**
 * Computes the replicas for an `Object` or `External` metric, which has one value for all pods.
 * @returns undefined if the metric has no value
 */
function sharedProposal(
  given: { readonly metric: string; readonly target: Target; readonly measured: Measured },
  name: string,
):
  | { replicas: number; name: string; current: { value?: string; averageValue?: string } }
  | undefined {
  const { metric, target, measured } = given;
  const { replicas, statusReplicas, namespace, pods } = measured;
  const value = measured.metrics.ofNamespace(metric, namespace);
  if (value === undefined) return undefined;
  if (target.averageValue !== undefined) {
    const perPod = thousandths(target.averageValue);
    const kept = within(value / (perPod * statusReplicas));
    // The target may have no replicas yet.
    const average = statusReplicas === 0 ? 0 : Math.ceil(value / statusReplicas);
    const current = { averageValue: quantityText(average, false) };
    return { replicas: kept ? statusReplicas : Math.ceil(value / perPod), name, current };
  }
  const ratio = value / thousandths(target.value ?? 0);
  const ready = pods.filter(isPodReady).length;
  const current = { value: quantityText(value, false) };
  return { replicas: within(ratio) ? replicas : Math.ceil(ratio * ready), name, current };
}

interface Wanted {
  /** The target average: a percentage of the pods' resource requests, or an amount for each pod in thousandths. */
  readonly target: number;
  /** The requests of the pods in thousandths, if the target is a percentage of them. */
  readonly requests: ReadonlyMap<Pod, number> | undefined;
  readonly isCpu: boolean;
}

interface Computed {
  readonly replicas: number;
  /** The percentage of the requests that is used. */
  readonly usage: number;
  /** The average of the pods in thousandths. */
  readonly average: number;
}

/** Computes the replicas from the usage of each pod. Returns a string if there is a problem. */
function replicasFor(
  given: ReadonlyMap<Pod, number>,
  { pods, replicas }: Measured,
  wanted: Wanted,
): Computed | string {
  const used = new Map(given);
  const isIgnored = (pod: Pod): boolean => isPodTerminating(pod) || pod.status?.phase === 'Failed';
  const isUnready = (pod: Pod): boolean =>
    pod.status?.phase === 'Pending' || (wanted.isCpu && !isPodReady(pod));
  const counted = pods.filter((pod) => !isIgnored(pod));
  const unready = counted.filter(isUnready);
  const missing = counted.filter((pod) => !isUnready(pod) && !used.has(pod));
  for (const pod of pods) if (isIgnored(pod) || isUnready(pod)) used.delete(pod);
  if (used.size === 0) return 'did not receive metrics for targeted pods (pods might be unready)';
  const { requests } = wanted;
  // Utilization is a percentage of the request, so a pod without a request has none.
  const isRequested = (pod: Pod): boolean => (requests?.get(pod) ?? 0) > 0;
  if (requests !== undefined && ![...used.keys()].some(isRequested)) {
    return 'no metrics returned matched known pods';
  }
  const first = ratioOf(used, wanted);
  const computed = { usage: first.usage, average: first.average };
  const growsWithUnready = unready.length > 0 && first.ratio > 1;
  if (!growsWithUnready && missing.length === 0) {
    const kept = within(first.ratio);
    return { ...computed, replicas: kept ? replicas : Math.ceil(first.ratio * used.size) };
  }
  const shrinks = first.ratio < 1;
  // As in the real controller: pods without a metric must not by themselves cause a change.
  for (const pod of missing) used.set(pod, shrinks ? fallbackOf(pod, wanted) : 0);
  if (growsWithUnready) for (const pod of unready) used.set(pod, 0);
  const { ratio } = ratioOf(used, wanted);
  if (within(ratio) || shrinks !== ratio < 1) return { ...computed, replicas };
  const next = Math.ceil(ratio * used.size);
  return { ...computed, replicas: (shrinks ? Math.min : Math.max)(next, replicas) };
}

function fallbackOf(pod: Pod, { target, requests }: Wanted): number {
  if (requests === undefined) return target;
  return ((requests.get(pod) ?? 0) * Math.max(100, target)) / 100;
}

function ratioOf(
  used: ReadonlyMap<Pod, number>,
  { target, requests }: Wanted,
): { readonly ratio: number; readonly usage: number; readonly average: number } {
  const sum = [...used.values()].reduce((total, value) => total + value, 0);
  const average = Math.floor(sum / used.size);
  if (requests === undefined) return { ratio: average / target, usage: 0, average };
  const requested = [...used.keys()].reduce((total, pod) => total + (requests.get(pod) ?? 0), 0);
  const usage = Math.floor((sum * 100) / requested);
  return { ratio: usage / target, usage, average };
}

/** Returns the requests of a pod in thousandths, or a string with the problem. */
function requestOf(pod: Pod, resource: string, container: string | undefined): number | string {
  let sum = 0;
  for (const { name, resources } of pod.spec?.containers ?? []) {
    if (container !== undefined && name !== container) continue;
    const request = resources?.requests?.[resource];
    if (request === undefined) {
      return `missing request for ${resource} in container ${name} of Pod ${pod.metadata.name ?? ''}`;
    }
    sum += thousandths(request);
  }
  return sum;
}

function within(ratio: number): boolean {
  return 1 - tolerance <= ratio && ratio <= 1 + tolerance;
}

function quantityText(milli: number, isBinary: boolean): string {
  const quantity = parseQuantity(`${milli}m`);
  return formatQuantity(isBinary ? { ...quantity, format: 'BinarySI' } : quantity);
}

const resources = {
  resource: 'the server could not find the requested resource (get pods.metrics.k8s.io)',
  custom: 'no custom metrics API (custom.metrics.k8s.io) registered',
} as const;

/** Returns the problem of a metric whose API no server serves. */
function unserved(api: 'resource' | 'custom' | 'external', metric: string): string {
  const own = `the server could not find the requested resource (get ${metric}.external.metrics.k8s.io)`;
  const why = api === 'external' ? own : resources[api];
  return `unable to fetch metrics from ${api} metrics API: ${why}`;
}
