import {
  findCondition,
  formatTime,
  Deployment,
  HorizontalPodAutoscaler,
  ReplicaSet,
  StatefulSet,
  keyOf,
} from '../../object/index.js';
import type { KubernetesObject, ObjectKey, ResourceType } from '../../object/index.js';
import { ObjectIndex } from './controller-host.js';
import type { ControllerHost } from './controller-host.js';
import { transitionTime } from './pod-state.js';

const autoscaler = 'horizontal-pod-autoscaler';

interface Scalable extends KubernetesObject {
  spec?: { replicas?: number | undefined } | undefined;
  status?: { replicas?: number | undefined } | undefined;
}

const scalable: readonly ResourceType<Scalable>[] = [Deployment, StatefulSet, ReplicaSet];

/**
 * Keeps the replicas of each HorizontalPodAutoscaler's target between `minReplicas` and `maxReplicas`.
 * Without metrics, it does not scale within these bounds, and the status reports that.
 */
export function startAutoscalerController(host: ControllerHost): void {
  const writer = host.writer(autoscaler);
  const reconcile = async (key: ObjectKey): Promise<void> => {
    const hpa = host.get(HorizontalPodAutoscaler, key);
    if (hpa === undefined) return;
    const { kind, name } = hpa.spec?.scaleTargetRef ?? {};
    const type = scalable.find((candidate) => candidate.kind === kind);
    const target =
      type && name !== undefined ? host.get(type, { namespace: key.namespace, name }) : undefined;
    const replicas = target && (target.spec?.replicas ?? 1);
    const bounded = boundedReplicas(hpa, replicas);
    if (target !== undefined && bounded !== undefined && bounded !== replicas) {
      await writer.update({ ...target, spec: { ...target.spec, replicas: bounded } });
    }
    const observed = target && { replicas: target.status?.replicas ?? 0, wanted: replicas ?? 1 };
    await writer.updateStatus(hpa, autoscalerStatus(hpa, observed, host.now()));
  };
  const queue = host.objectQueue(HorizontalPodAutoscaler, 'autoscalers', reconcile);
  const byTarget = new ObjectIndex(host, HorizontalPodAutoscaler, ({ spec }) => {
    const { kind = '', name = '' } = spec?.scaleTargetRef ?? {};
    return [`${kind} ${name}`];
  });
  for (const type of scalable) {
    host.watch(type, ({ object }) => {
      const { namespace, name = '' } = object.metadata;
      for (const hpa of byTarget.find(namespace, [`${type.kind} ${name}`])) queue.add(keyOf(hpa));
    });
  }
}

type AutoscalerStatus = NonNullable<HorizontalPodAutoscaler['status']>;
type Condition = NonNullable<AutoscalerStatus['conditions']>[number];

/**
 * Returns the number of replicas within the bounds, or undefined without a target. A target with 0 replicas
 * is switched off and stays at 0.
 */
function boundedReplicas(
  hpa: HorizontalPodAutoscaler,
  replicas: number | undefined,
): number | undefined {
  const { minReplicas = 1, maxReplicas = Infinity } = hpa.spec ?? {};
  if (replicas === undefined || replicas === 0) return replicas;
  return Math.min(Math.max(replicas, minReplicas), maxReplicas);
}

/** Computes the status of an autoscaler without metrics. @param target - undefined if it does not exist */
function autoscalerStatus(
  hpa: HorizontalPodAutoscaler,
  target: { readonly replicas: number; readonly wanted: number } | undefined,
  nowMs: number,
): AutoscalerStatus {
  const bounded = boundedReplicas(hpa, target?.wanted) ?? 0;
  const rescaled = target !== undefined && bounded !== target.wanted;
  const conditions = statements(target, rescaled).map((statement) =>
    conditionFor(hpa.status?.conditions ?? [], statement, nowMs),
  );
  return {
    ...hpa.status,
    ...(target && { currentReplicas: target.replicas }),
    // Without metrics, no other number is ever computed.
    desiredReplicas: rescaled ? bounded : (hpa.status?.desiredReplicas ?? 0),
    ...(rescaled && { lastScaleTime: formatTime(nowMs) }),
    conditions,
  };
}

type Statement = readonly [type: string, status: string, reason: string, message: string];

function statements(
  target: { readonly wanted: number } | undefined,
  rescaled: boolean,
): readonly Statement[] {
  if (target === undefined) {
    const message = "the HPA controller was unable to get the target's current scale";
    return [['AbleToScale', 'False', 'FailedGetScale', message]];
  }
  const scale = "the HPA controller was able to get the target's current scale";
  if (target.wanted === 0) {
    const message = 'scaling is disabled since the replica count of the target is zero';
    return [
      ['AbleToScale', 'True', 'SucceededGetScale', scale],
      ['ScalingActive', 'False', 'ScalingDisabled', message],
    ];
  }
  if (rescaled) {
    const message = 'the HPA controller was able to update the target scale to fit its bounds';
    return [['AbleToScale', 'True', 'SucceededRescale', message]];
  }
  const message = 'the HPA was unable to compute the replica count: no metrics are served';
  return [
    ['AbleToScale', 'True', 'SucceededGetScale', scale],
    ['ScalingActive', 'False', 'FailedGetResourceMetric', message],
  ];
}

function conditionFor(
  before: readonly Condition[],
  [type, status, reason, message]: Statement,
  nowMs: number,
): Condition {
  const lastTransitionTime = transitionTime(findCondition(before, type), status, nowMs);
  return { type, status, reason, message, lastTransitionTime };
}
