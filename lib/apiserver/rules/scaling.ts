import type {
  V1HorizontalPodAutoscaler,
  V1PodDisruptionBudget,
  V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import { defaultAutoscaler } from '../defaulting/autoscaler.js';
import { validateAutoscaler } from '../validation/autoscaler.js';
import type { FieldErrors } from '../validation/field-errors.js';
import { validateLabelSelector } from '../validation/label-selector.js';
import { validateAtMost100Percent, validateIntOrPercent } from '../validation/numbers.js';
import type { KindRules } from './kind-rules.js';
import { specChanged } from './spec-changed.js';
import { typedRules } from './typed-rules.js';

type Budget = Wire<V1PodDisruptionBudget>;
type Autoscaler = Wire<V2HorizontalPodAutoscaler>;

function validateBudget({ spec }: Budget, errors: FieldErrors): void {
  if (spec === undefined) return;
  const { minAvailable, maxUnavailable, selector } = spec;
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    errors.invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set');
  }
  for (const [member, value] of Object.entries({ minAvailable, maxUnavailable })) {
    if (value === undefined) continue;
    validateIntOrPercent(value, `spec.${member}`, errors);
    validateAtMost100Percent(value, `spec.${member}`, errors);
  }
  validateLabelSelector(selector, 'spec.selector', errors);
  const { unhealthyPodEvictionPolicy: policy } = spec;
  const policies = ['AlwaysAllow', 'IfHealthyBudget'];
  if (policy !== undefined && !policies.includes(policy)) {
    errors.notSupported('spec.unhealthyPodEvictionPolicy', policy, policies);
  }
}

const emptyBudgetStatus = {
  disruptionsAllowed: 0,
  currentHealthy: 0,
  desiredHealthy: 0,
  expectedPods: 0,
};

/** The rules of disruption budgets and autoscalers. */
export const scalingRules: Readonly<Record<string, KindRules>> = {
  'policy/v1/PodDisruptionBudget': typedRules<Budget>(
    { validate: validateBudget },
    { specChanged, unconditionalUpdate: false, initialStatus: () => ({ ...emptyBudgetStatus }) },
  ),
  'autoscaling/v2/HorizontalPodAutoscaler': typedRules<Autoscaler>({
    defaults: defaultAutoscaler,
    validate: validateAutoscaler,
  }),
  'autoscaling/v1/HorizontalPodAutoscaler': typedRules<Wire<V1HorizontalPodAutoscaler>>({
    defaults: ({ spec }) => {
      if (spec === undefined) return;
      spec.minReplicas ??= 1;
    },
  }),
};
