import type { V2HPAScalingRules, V2HorizontalPodAutoscaler } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';

type ScalingRules = Wire<V2HPAScalingRules>;

/** Fills in the defaults of an `autoscaling/v2` HorizontalPodAutoscaler, in place. */
export function defaultAutoscaler({ spec }: Wire<V2HorizontalPodAutoscaler>): void {
  if (spec === undefined) return;
  spec.minReplicas ??= 1;
  spec.metrics ??= [
    {
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
    },
  ];
  if (spec.behavior === undefined) return;
  spec.behavior.scaleUp = withDefaults(spec.behavior.scaleUp, {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
  });
  // The window has no default here: without it, the controller's flag applies.
  spec.behavior.scaleDown = withDefaults(spec.behavior.scaleDown, {
    selectPolicy: 'Max',
    policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
  });
}

function withDefaults(rules: ScalingRules | undefined, defaults: ScalingRules): ScalingRules {
  const filled: ScalingRules = rules ?? {};
  if (defaults.stabilizationWindowSeconds !== undefined) {
    filled.stabilizationWindowSeconds ??= defaults.stabilizationWindowSeconds;
  }
  if (defaults.selectPolicy !== undefined) filled.selectPolicy ??= defaults.selectPolicy;
  if (defaults.policies !== undefined) filled.policies ??= defaults.policies;
  return filled;
}
