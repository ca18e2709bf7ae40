import { parseQuantity } from '../../object/index.js';
import type { Pod } from '../../object/index.js';
import { errorMessage, OperatorError, refuseUnknownOptions } from '../../system/index.js';
import { checkPodMatch, matchesPod } from './pod-rules.js';
import type { PodMatch } from './pod-rules.js';
import { isPodReady } from './pod-state.js';

/** The value of a metric, for HorizontalPodAutoscalers. */
export interface MetricRule {
  /** The name of the metric: `cpu` or `memory` for `Resource` metrics, any name for `Pods`, `Object` and `External`. */
  readonly metric: string;
  /** The value of each matching pod: a quantity, such as `250m`, `1Gi` or 30. */
  readonly value?: string | number | undefined;
  /** Instead of `value`: the value of all matching pods together, which the ready pods share equally. */
  readonly total?: string | number | undefined;
  /**
   * The pods that have this value. For `Object` and `External` metrics, whose value is `value` or `total`, only
   * `namespace` counts.
   * @defaultValue every pod
   */
  readonly match?: PodMatch | undefined;
}

/** An active {@link MetricRule}. */
export interface ActiveMetricRule {
  readonly rule: MetricRule;
  /** Deactivates the rule. */
  remove(): void;
}

/**
 * The metrics of simulated pods and of the systems outside the cluster. They can change while the cluster runs:
 * autoscalers then compute their replicas again. The last matching rule decides.
 */
export class MetricRules {
  readonly #rules = new Set<ActiveMetricRule>();
  #onChange: () => void = () => undefined;

  /**
   * Activates a rule.
   * @throws OperatorError `InvalidOption`: a field is unknown, or the value is not one quantity.
   */
  add(rule: MetricRule): ActiveMetricRule {
    checkMetricRule(rule);
    const remove = (): void => {
      if (this.#rules.delete(active)) this.#onChange();
    };
    const active: ActiveMetricRule = { rule, remove };
    this.#rules.add(active);
    this.#onChange();
    return active;
  }

  /** The active rules, in the order in which they were added. */
  get active(): readonly ActiveMetricRule[] {
    return [...this.#rules];
  }

  /** Deactivates all rules. */
  clear(): void {
    this.#rules.clear();
    this.#onChange();
  }

  /** Returns a metric of pods in thousandths, without the pods that no rule matches. */
  ofPods(metric: string, pods: readonly Pod[]): Map<Pod, number> {
    const found = pods.map((pod) => this.#last(metric, ({ match }) => matchesPod(match, pod)));
    const values = new Map<Pod, number>();
    for (const [index, pod] of pods.entries()) {
      const rule = found[index];
      if (rule === undefined) continue;
      const sharing = pods.filter((other, at) => found[at] === rule && isPodReady(other)).length;
      if (rule.value !== undefined) values.set(pod, thousandths(rule.value));
      else if (sharing > 0) values.set(pod, thousandths(rule.total ?? 0) / sharing);
    }
    return values;
  }

  /** Returns a metric of a namespace in thousandths; undefined if no rule matches. */
  ofNamespace(metric: string, namespace: string): number | undefined {
    const matches = ({ match = {} }: MetricRule): boolean =>
      (match.namespace ?? namespace) === namespace;
    const rule = this.#last(metric, matches);
    return rule && thousandths(rule.value ?? rule.total ?? 0);
  }

  /** Calls `listener` after each change of the rules, in place of an earlier listener. @internal */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  #last(metric: string, matches: (rule: MetricRule) => boolean): MetricRule | undefined {
    return this.active.findLast(({ rule }) => rule.metric === metric && matches(rule))?.rule;
  }
}

/** Returns a quantity in thousandths, rounded up as `MilliValue` of Go is. */
export function thousandths(value: string | number): number {
  const { unscaled, scale } = parseQuantity(value);
  return Math.ceil(Number(unscaled) * 10 ** (scale + 3));
}

function checkMetricRule(rule: MetricRule): void {
  refuseUnknownOptions<MetricRule>('metric rule', rule, {
    ...{ metric: true, value: true, total: true, match: true },
  });
  const { metric, value, total, match } = rule;
  if (typeof metric !== 'string' || metric === '') {
    const got = JSON.stringify(metric);
    throw new OperatorError('InvalidOption', `metric rule: want metric to be a name, got ${got}`);
  }
  if ((value === undefined) === (total === undefined)) {
    throw new OperatorError('InvalidOption', 'metric rule: want either value or total');
  }
  try {
    parseQuantity(value ?? total ?? '');
  } catch (cause) {
    const message = `metric rule: want a quantity: ${errorMessage(cause)}`;
    throw new OperatorError('InvalidOption', message, { cause });
  }
  checkPodMatch('metric rule', match);
}
