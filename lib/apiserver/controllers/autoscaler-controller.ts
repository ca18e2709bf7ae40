import {
  findCondition,
  formatTime,
  Deployment,
  HorizontalPodAutoscaler,
  ReplicaSet,
  StatefulSet,
  keyOf,
} from '../../object/index.js';
import type {
  KubernetesObject,
  LabelSelector,
  ObjectKey,
  ResourceType,
} from '../../object/index.js';
import { AutoscalerLimits } from './autoscaler-limits.js';
import type { LimitReason } from './autoscaler-limits.js';
import { proposalFor } from './autoscaler-metrics.js';
import type { MetricStatus, Proposal } from './autoscaler-metrics.js';
import type { RecordEvent } from './controller-events.js';
import { ObjectIndex, selectorWords } from './controller-host.js';
import type { ControllerHost, ObjectWriter } from './controller-host.js';
import type { MetricRules } from './metric-rules.js';
import { transitionTime } from './pod-state.js';
import type { WorkQueue } from './work-queue.js';

const autoscaler = 'horizontal-pod-autoscaler';
// As in kube-controller-manager: the time between two computations while limits apply.
const syncPeriodMs = 15_000;

interface Scalable extends KubernetesObject {
  spec?: { replicas?: number | undefined; selector?: LabelSelector | undefined } | undefined;
  status?: { replicas?: number | undefined } | undefined;
}

const scalable: readonly ResourceType<Scalable>[] = [Deployment, StatefulSet, ReplicaSet];

/**
 * Scales the target of each HorizontalPodAutoscaler by the metrics of `rules`, between `minReplicas` and
 * `maxReplicas`. Without metrics, it does not scale within these bounds, and the status reports that.
 */
export class AutoscalerController {
  readonly #host: ControllerHost;
  readonly #rules: MetricRules;
  readonly #writer: ObjectWriter;
  readonly #recordEvent: RecordEvent;
  readonly #queue: WorkQueue<ObjectKey>;
  readonly #pods: ControllerHost['podsByLabel'];
  readonly #limits = new Map<string, AutoscalerLimits>();

  constructor(host: ControllerHost, rules: MetricRules) {
    this.#host = host;
    this.#rules = rules;
    this.#writer = host.writer(autoscaler);
    this.#recordEvent = host.events.from({ component: autoscaler });
    this.#pods = host.podsByLabel;
    const reconcile = (key: ObjectKey): Promise<void> => this.#reconcile(key);
    this.#queue = host.objectQueue(HorizontalPodAutoscaler, 'autoscalers', reconcile);
    const byTarget = new ObjectIndex(host, HorizontalPodAutoscaler, ({ spec }) => {
      const { kind = '', name = '' } = spec?.scaleTargetRef ?? {};
      return [`${kind} ${name}`];
    });
    for (const type of scalable) {
      host.watch(type, ({ object }) => {
        const { namespace, name = '' } = object.metadata;
        for (const hpa of byTarget.find(namespace, [`${type.kind} ${name}`]))
          this.#queue.add(keyOf(hpa));
      });
    }
    host.watch(HorizontalPodAutoscaler, ({ type, object }) => {
      if (type === 'DELETED') this.#limits.delete(object.metadata.uid ?? '');
    });
    host.onRestore(() => this.#limits.clear());
    this.#rules.onChange(() => {
      for (const hpa of host.list(HorizontalPodAutoscaler)) this.#queue.add(keyOf(hpa));
    });
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const hpa = this.#host.get(HorizontalPodAutoscaler, key);
    if (hpa === undefined) return;
    const { kind = '', name = '' } = hpa.spec?.scaleTargetRef ?? {};
    const type = scalable.find((candidate) => candidate.kind === kind);
    const target = type && this.#host.get(type, { namespace: key.namespace, name });
    if (target === undefined) {
      const message = `the HPA controller was unable to get the target's current scale`;
      this.#recordEvent({ about: hpa, type: 'Warning', reason: 'FailedGetScale', message });
      const failed = { AbleToScale: condition('False', { reason: 'FailedGetScale', message }) };
      await this.#report(hpa, { conditions: failed });
      return;
    }
    const decision = this.#decide(hpa, target);
    await this.#report(hpa, await this.#carryOut(hpa, target, decision));
    if (decision.isTemporary === true) this.#queue.addLater(key, syncPeriodMs);
  }

  /** Returns the replicas that the bounds require, else the replicas that the metrics require. */
  #decide(hpa: HorizontalPodAutoscaler, target: Scalable): Decision {
    const { minReplicas = 1, maxReplicas = Infinity } = hpa.spec ?? {};
    const current = target.spec?.replicas ?? 1;
    if (current === 0) {
      const message = 'scaling is disabled since the replica count of the target is zero';
      const disabled = condition('False', { reason: 'ScalingDisabled', message });
      return { replicas: 0, conditions: { ...gotScale, ScalingActive: disabled } };
    }
    if (current > maxReplicas) {
      const why = 'Current number of replicas above Spec.MaxReplicas';
      return { replicas: maxReplicas, why, conditions: gotScale };
    }
    if (current < minReplicas) {
      const why = 'Current number of replicas below Spec.MinReplicas';
      return { replicas: minReplicas, why, conditions: gotScale };
    }
    return this.#decideByMetrics(hpa, target, current);
  }

  #decideByMetrics(hpa: HorizontalPodAutoscaler, target: Scalable, current: number): Decision {
    const { spec } = hpa;
    const proposals = (spec?.metrics ?? []).map((metric) =>
      proposalFor(metric, {
        namespace: hpa.metadata.namespace ?? '',
        pods: this.#podsOf(target),
        replicas: current,
        statusReplicas: target.status?.replicas ?? 0,
        metrics: this.#rules,
      }),
    );
    const valid = proposals.filter((proposal) => 'replicas' in proposal);
    const [failed] = proposals.filter((proposal) => 'problem' in proposal);
    const best = valid.toSorted((a, b) => b.replicas - a.replicas)[0];
    const metrics = valid.map(({ status }) => status);
    if (spec === undefined || best === undefined || (failed && best.replicas < current)) {
      return { replicas: undefined, metrics, conditions: this.#failed(hpa, proposals, failed) };
    }
    const found = `the HPA was able to successfully calculate a replica count from ${best.name}`;
    const { uid = '' } = hpa.metadata;
    const limits = this.#limits.get(uid) ?? new AutoscalerLimits();
    this.#limits.set(uid, limits);
    const limited = limits.limit(spec, current, best.replicas, this.#host.now());
    const { replicas, ableToScale, scalingLimited, isLimited, isTemporary } = limited;
    const why = replicas > current ? `${best.name} above target` : 'All metrics below target';
    return {
      ...{ replicas, why, metrics, isTemporary },
      conditions: {
        AbleToScale: condition('True', ableToScale),
        ScalingActive: condition('True', { reason: 'ValidMetricFound', message: found }),
        ScalingLimited: condition(isLimited ? 'True' : 'False', scalingLimited),
      },
    };
  }

  /** Records that the metrics yield no number of replicas. @returns the conditions */
  #failed(
    hpa: HorizontalPodAutoscaler,
    proposals: readonly Proposal[],
    failed: Extract<Proposal, { problem: string }> | undefined,
  ): Conditions {
    const { reason, problem, subject } = failed ?? {
      reason: 'InvalidMetricSourceType',
      problem: 'the autoscaler has no metrics',
      subject: 'unknown',
    };
    this.#recordEvent({ about: hpa, type: 'Warning', reason, message: problem });
    const count = proposals.filter((proposal) => 'problem' in proposal).length;
    const all = `invalid metrics (${count} invalid out of ${proposals.length})`;
    const summary = `${all}, first error is: failed to get ${subject} metric value: ${problem}`;
    const event = { type: 'Warning', reason: 'FailedComputeMetricsReplicas' } as const;
    this.#recordEvent({ about: hpa, ...event, message: summary });
    const message = `the HPA was unable to compute the replica count: ${problem}`;
    return { ...gotScale, ScalingActive: condition('False', { reason, message }) };
  }

  async #carryOut(
    hpa: HorizontalPodAutoscaler,
    target: Scalable,
    { replicas, why = '', metrics, conditions }: Decision,
  ): Promise<Outcome> {
    const current = target.spec?.replicas ?? 1;
    const observed = { currentReplicas: target.status?.replicas ?? 0, metrics };
    if (replicas === undefined) return { ...observed, conditions };
    if (replicas === current) return { ...observed, desiredReplicas: replicas, conditions };
    await this.#writer.update({ ...target, spec: { ...target.spec, replicas } });
    this.#limits.get(hpa.metadata.uid ?? '')?.changed(replicas - current, this.#host.now());
    const message = `New size: ${replicas}; reason: ${why}`;
    this.#recordEvent({ about: hpa, reason: 'SuccessfulRescale', message });
    const done = `the HPA controller was able to update the target scale to ${replicas}`;
    const AbleToScale = condition('True', { reason: 'SucceededRescale', message: done });
    return {
      ...observed,
      desiredReplicas: replicas,
      lastScaleTime: formatTime(this.#host.now()),
      conditions: { ...conditions, AbleToScale },
    };
  }

  #podsOf({ metadata, spec }: Scalable): ReturnType<ControllerHost['podsByLabel']['find']> {
    return this.#pods
      .find(metadata.namespace, selectorWords(spec?.selector))
      .filter((pod) => this.#host.selects(spec?.selector, pod.metadata.labels));
  }

  async #report(hpa: HorizontalPodAutoscaler, outcome: Outcome): Promise<void> {
    const { conditions, metrics, ...fields } = outcome;
    const before = hpa.status?.conditions ?? [];
    const nowMs = this.#host.now();
    const stated = Object.entries(conditions).map(([type, { status, reason, message }]) => {
      const lastTransitionTime = transitionTime(findCondition(before, type), status, nowMs);
      return { type, status, reason, message, lastTransitionTime };
    });
    const others = before.filter(({ type }) => !(type in conditions));
    await this.#writer.updateStatus(hpa, {
      ...hpa.status,
      desiredReplicas: hpa.status?.desiredReplicas ?? 0,
      ...fields,
      ...(metrics !== undefined && { currentMetrics: [...metrics] }),
      conditions: [...stated, ...others],
    });
  }
}

/** A condition without its type and time. */
interface Statement extends LimitReason {
  readonly status: 'True' | 'False';
}

type Conditions = Readonly<Record<string, Statement>>;

/** The replicas that an autoscaler has computed. */
interface Decision {
  /** Undefined if the metrics yield no number. */
  readonly replicas: number | undefined;
  /** The reason of a change. */
  readonly why?: string;
  readonly metrics?: readonly MetricStatus[];
  readonly conditions: Conditions;
  /** True if the limits may allow another number of replicas later. */
  readonly isTemporary?: boolean;
}

/** The result of a reconcile, for the status. */
interface Outcome {
  readonly currentReplicas?: number;
  readonly desiredReplicas?: number;
  readonly lastScaleTime?: string;
  readonly metrics?: readonly MetricStatus[] | undefined;
  readonly conditions: Conditions;
}

function condition(status: 'True' | 'False', reason: LimitReason): Statement {
  return { status, ...reason };
}

const gotScale: Conditions = {
  AbleToScale: condition('True', {
    reason: 'SucceededGetScale',
    message: "the HPA controller was able to get the target's current scale",
  }),
};
