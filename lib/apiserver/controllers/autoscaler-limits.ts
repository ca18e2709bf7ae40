import type { V2HorizontalPodAutoscaler } from '@kubernetes/client-node';
import type { Wire } from '../../object/index.js';

type Spec = NonNullable<Wire<V2HorizontalPodAutoscaler>['spec']>;
type ScalingRules = NonNullable<NonNullable<Spec['behavior']>['scaleUp']>;

/** A condition without its type, status and time. */
export interface LimitReason {
  readonly reason: string;
  readonly message: string;
}

/** The replicas that an autoscaler sets, with the reasons for its conditions. */
export interface LimitedReplicas {
  readonly replicas: number;
  /** The reason of `AbleToScale`. */
  readonly ableToScale: LimitReason;
  /** The reason of `ScalingLimited`. */
  readonly scalingLimited: LimitReason;
  readonly isLimited: boolean;
  /** True if the limits may allow another number of replicas later. */
  readonly isTemporary: boolean;
}

interface Timed {
  readonly atMs: number;
  readonly replicas: number;
}

// As in kube-controller-manager: the default of `stabilizationWindowSeconds` for scaling down.
const downWindowMs = 300_000;
// The longest window and period that the API accepts.
const longestMs = 3_600_000;

/** Remembers the recommendations and changes of one autoscaler, and limits how fast it scales. */
export class AutoscalerLimits {
  #recommendations: Timed[] = [];
  #changes: Timed[] = [];

  /** Records a change of the target by `replicas`, a negative number if it shrinks. */
  changed(replicas: number, atMs: number): void {
    this.#changes.push({ atMs, replicas });
  }

  /** Limits the replicas that result from the metrics. */
  limit(spec: Spec, current: number, wanted: number, nowMs: number): LimitedReplicas {
    const { behavior, minReplicas = 1, maxReplicas } = spec;
    this.#forget(nowMs);
    if (this.#recommendations.length === 0) {
      this.#recommendations.push({ atMs: nowMs, replicas: current });
    }
    const stabilized = this.#stabilized(behavior, { current, wanted, nowMs });
    this.#recommendations.push({ atMs: nowMs, replicas: wanted });
    const fastest =
      behavior === undefined
        ? { up: Math.max(2 * current, 4), down: 0 }
        : this.#fastest(behavior, current, nowMs);
    const most = Math.min(maxReplicas, fastest.up);
    const least = Math.max(minReplicas, fastest.down);
    const ableToScale = stabilized === wanted ? ready : stabilized > wanted ? fewer : more;
    const limited = {
      ableToScale,
      isTemporary: stabilized !== wanted,
    };
    const isFast = fastest.up < maxReplicas;
    if (stabilized > most) {
      const scalingLimited = isFast ? tooFast : tooMany;
      return { ...limited, replicas: most, scalingLimited, isLimited: true, isTemporary: isFast };
    }
    if (stabilized < least) {
      const isSlow = fastest.down > minReplicas;
      const scalingLimited = isSlow ? tooFastDown : tooFew;
      return { ...limited, replicas: least, scalingLimited, isLimited: true, isTemporary: isSlow };
    }
    return { ...limited, replicas: stabilized, scalingLimited: inRange, isLimited: false };
  }

  #forget(nowMs: number): void {
    const isRecent = ({ atMs }: Timed): boolean => nowMs - atMs < longestMs;
    this.#recommendations = this.#recommendations.filter(isRecent);
    this.#changes = this.#changes.filter(isRecent);
  }

  /** Returns the replicas that the recommendations within the stabilization windows allow. */
  #stabilized(
    behavior: Spec['behavior'],
    at: { readonly current: number; readonly wanted: number; readonly nowMs: number },
  ): number {
    const { current, wanted, nowMs } = at;
    const within = (windowMs: number): number[] => [
      wanted,
      ...this.#recommendations
        .filter(({ atMs }) => nowMs - atMs < windowMs)
        .map(({ replicas }) => replicas),
    ];
    const downMs = windowMsOf(behavior?.scaleDown, downWindowMs);
    const highest = Math.max(...within(downMs));
    if (behavior === undefined) return highest;
    const lowest = Math.min(...within(windowMsOf(behavior.scaleUp, 0)));
    if (current < lowest) return lowest;
    return current > highest ? highest : current;
  }

  /** Returns the replicas that the policies of a behavior allow. */
  #fastest(
    { scaleUp, scaleDown }: NonNullable<Spec['behavior']>,
    current: number,
    nowMs: number,
  ): { readonly up: number; readonly down: number } {
    const allowed = (rules: ScalingRules | undefined, sign: 1 | -1): number => {
      const { policies = [], selectPolicy = 'Max' } = rules ?? {};
      if (selectPolicy === 'Disabled') return current;
      const proposals = policies.map(({ type, value, periodSeconds }) => {
        const atStart = current - this.#changedIn(periodSeconds * 1000, nowMs);
        if (type === 'Pods') return atStart + sign * value;
        const share = atStart * (1 + (sign * value) / 100);
        return sign > 0 ? Math.ceil(share) : Math.floor(share);
      });
      const isHighest = (selectPolicy === 'Max') === sign > 0;
      return isHighest ? Math.max(...proposals) : Math.min(...proposals);
    };
    return {
      up: Math.max(current, allowed(scaleUp, 1)),
      down: Math.min(current, allowed(scaleDown, -1)),
    };
  }

  #changedIn(periodMs: number, nowMs: number): number {
    return this.#changes
      .filter(({ atMs }) => nowMs - atMs < periodMs)
      .reduce((sum, { replicas }) => sum + replicas, 0);
  }
}

function windowMsOf(rules: ScalingRules | undefined, defaultMs: number): number {
  const seconds = rules?.stabilizationWindowSeconds;
  return seconds === undefined ? defaultMs : seconds * 1000;
}

const ready: LimitReason = {
  reason: 'ReadyForNewScale',
  message: 'recommended size matches current size',
};
const fewer: LimitReason = {
  reason: 'ScaleDownStabilized',
  message:
    'recent recommendations were higher than current one, applying the highest recent recommendation',
};
const more: LimitReason = {
  reason: 'ScaleUpStabilized',
  message:
    'recent recommendations were lower than current one, applying the lowest recent recommendation',
};
const inRange: LimitReason = {
  reason: 'DesiredWithinRange',
  message: 'the desired count is within the acceptable range',
};
const tooMany: LimitReason = {
  reason: 'TooManyReplicas',
  message: 'the desired replica count is more than the maximum replica count',
};
const tooFew: LimitReason = {
  reason: 'TooFewReplicas',
  message: 'the desired replica count is less than the minimum replica count',
};
const tooFast: LimitReason = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
};
const tooFastDown: LimitReason = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
};
