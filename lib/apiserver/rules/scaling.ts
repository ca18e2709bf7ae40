import type {
  V2CrossVersionObjectReference,
  V1Condition,
  V1HorizontalPodAutoscaler,
  V1PodDisruptionBudget,
  V2ContainerResourceMetricSource,
  V2HPAScalingRules,
  V2HorizontalPodAutoscaler,
  V2HorizontalPodAutoscalerSpec,
  V2MetricSpec,
  V2MetricTarget,
} from '@kubernetes/client-node';
import { labelProblems, pathSegmentProblems, qualifiedNameProblems } from '../../object/index.js';
import type { FieldErrors } from '../../crd/internal.js';
import type { Wire } from '../../object/index.js';
import {
  validateAtMost100Percent,
  validateIntOrPercent,
  validateNonnegative,
} from './field-values.js';
import { hadEmptyMember } from '../go-json/go-types.js';
import { specChanged, typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';
import { validateLabelSelector } from './metadata.js';
import { validateContainerResource } from './resources.js';

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
    validateIntOrPercent(value, errors.at(`spec.${member}`));
    validateAtMost100Percent(value, errors.at(`spec.${member}`));
  }
  validateLabelSelector(selector, errors.at('spec.selector'));
  const { unhealthyPodEvictionPolicy: policy } = spec;
  const policies = ['AlwaysAllow', 'IfHealthyBudget'];
  errors.oneOf('spec.unhealthyPodEvictionPolicy', policy, policies);
}

const reasonForm = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonProblem =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', " +
  `regex used for validation is '${reasonForm}')`;

function validateConditions(conditions: readonly Wire<V1Condition>[], errors: FieldErrors): void {
  errors.each('status.conditions', conditions, ({ type, status, reason, ...condition }, errors) => {
    errors.invalidEach('type', type, qualifiedNameProblems(type));
    errors.oneOf('status', status, ['False', 'True', 'Unknown']);
    const { observedGeneration = 0 } = condition;
    if (observedGeneration < 0) {
      const why = 'must be greater than or equal to zero';
      errors.invalid('observedGeneration', observedGeneration, why);
    }
    const { lastTransitionTime: time } = condition as { lastTransitionTime?: unknown };
    if (time === undefined || time === null) errors.required('lastTransitionTime');
    if (reason === '') errors.required('reason');
    else if (!new RegExp(`^${reasonForm}$`).test(reason)) {
      errors.invalid('reason', reason, reasonProblem);
    }
  });
}

function validateBudgetStatus({ status }: Budget, errors: FieldErrors): void {
  validateConditions(status?.conditions ?? [], errors);
  for (const name of Object.keys(emptyBudgetStatus) as (keyof typeof emptyBudgetStatus)[]) {
    validateNonnegative(status?.[name] ?? 0, errors.at(`status.${name}`));
  }
}

const emptyBudgetStatus = {
  disruptionsAllowed: 0,
  currentHealthy: 0,
  desiredHealthy: 0,
  expectedPods: 0,
};

export const scalingRules: Readonly<Record<string, KindRules>> = {
  'policy/v1/PodDisruptionBudget': typedRules<Budget>({
    validate: validateBudget,
    ...{ nameFormat: 'path', specChanged, unconditionalUpdate: false },
    checksMetadataLast: true,
    initialStatus: () => ({ ...emptyBudgetStatus }),
    validateStatusUpdate: (object, old, errors) => validateBudgetStatus(object, errors),
  }),
  'autoscaling/v2/HorizontalPodAutoscaler': typedRules<Autoscaler>({
    defaults: defaultAutoscaler,
    validate: validateAutoscaler,
  }),
  'autoscaling/v1/HorizontalPodAutoscaler': typedRules<Wire<V1HorizontalPodAutoscaler>>({
    // The conversion from this version fills in the metrics.
    defaults: ({ spec }) => {
      if (spec !== undefined) spec.minReplicas ??= 1;
    },
  }),
};

type ScalingRules = Wire<V2HPAScalingRules>;

/** Fills in the defaults of an `autoscaling/v2` HorizontalPodAutoscaler, in place. */
function defaultAutoscaler({ spec }: Wire<V2HorizontalPodAutoscaler>): void {
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
  // `stabilizationWindowSeconds` has no default in the API: without it, the flag of the controller applies.
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
  // An empty list is an error, and does not count as missing.
  if (!hadEmptyMember(filled, 'policies')) filled.policies ??= defaults.policies ?? [];
  return filled;
}

type AutoscalerSpec = Wire<V2HorizontalPodAutoscalerSpec>;

function validateAutoscaler({ spec }: Wire<V2HorizontalPodAutoscaler>, errors: FieldErrors): void {
  if (spec === undefined) return;
  validateBounds(spec, errors);
  validateTarget(spec, errors);
  const { metrics = [], behavior } = spec;
  errors.each('spec.metrics', metrics, validateMetric);
  for (const direction of ['scaleUp', 'scaleDown'] as const) {
    const rules = behavior?.[direction];
    if (rules !== undefined) validateRules(rules, errors.at(`spec.behavior.${direction}`));
  }
}

function validateBounds(
  { minReplicas, maxReplicas, metrics = [] }: AutoscalerSpec,
  errors: FieldErrors,
): void {
  if (minReplicas !== undefined && minReplicas < 1) {
    errors.invalid('spec.minReplicas', minReplicas, 'must be greater than or equal to 1');
    const external = metrics.some(({ type }) => type === 'Object' || type === 'External');
    if (minReplicas === 0 && !external) {
      const why =
        'must specify at least one Object or External metric to support scaling to zero replicas';
      errors.forbidden('spec.metrics', why);
    }
  }
  if (maxReplicas === 0) errors.required('spec.maxReplicas', 'must be set and greater than 0');
  else if (maxReplicas < 0) {
    errors.invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to 1');
  }
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    const why = 'must be greater than or equal to `minReplicas`';
    errors.invalid('spec.maxReplicas', maxReplicas, why);
  }
}

function validateTarget({ scaleTargetRef }: AutoscalerSpec, errors: FieldErrors): void {
  const { apiVersion = '', kind } = scaleTargetRef;
  validateReference(scaleTargetRef, errors.at('spec.scaleTargetRef'));
  const [group, version, ...rest] = apiVersion.split('/');
  if (rest.length > 0 || kind === 'ReplicationController') return;
  if (group !== '' && version !== undefined) return;
  errors.invalid('spec.scaleTargetRef.apiVersion', apiVersion, 'apiVersion must specify API group');
}

/** The types of metrics, and the member of each. */
const metricTypes = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
} as const;

type MetricType = keyof typeof metricTypes;

function isMetricType(type: string): type is MetricType {
  return Object.hasOwn(metricTypes, type);
}

type Metric = Wire<V2MetricSpec>;

/** The members of a metric, in the order of the real server: it checks only the first that is given. */
const metricSources = ['object', 'external', 'pods', 'resource', 'containerResource'] as const;

function validateMetric(metric: Metric, errors: FieldErrors): void {
  const { type } = metric;
  if (type === '') errors.required('type', 'must specify a metric source type');
  if (!isMetricType(type)) errors.notSupported('type', type, Object.keys(metricTypes));
  const [first, ...others] = metricSources.filter((source) => metric[source] !== undefined);
  if (first !== undefined) validateMetricSource(metric, first, errors);
  // The real server reports an unknown type twice.
  if (!isMetricType(type)) errors.notSupported('type', type, Object.keys(metricTypes));
  const expected = isMetricType(type) ? metricTypes[type] : undefined;
  if (expected !== undefined && metric[expected] === undefined) {
    errors.required(expected, 'must populate information for the given metric source');
  }
  if (first === undefined || others.length === 0) return;
  for (const source of [first, ...others]) {
    if (source === expected) continue;
    errors.forbidden(source, 'must populate the given metric source only');
  }
}

function validateMetricSource(
  { resource, containerResource, pods, object, external }: Metric,
  first: (typeof metricSources)[number],
  errors: FieldErrors,
): void {
  const at = first;
  if (first === 'resource' || first === 'containerResource') {
    const named = first === 'resource' ? resource : containerResource;
    if (named?.name === '') errors.required(`${at}.name`, 'must specify a resource name');
    if (first === 'containerResource' && containerResource !== undefined) {
      validateContainerMetric(containerResource, errors.at(at));
    }
    const why = 'must set either a target raw value or a target utilization';
    validateMetricTarget(named?.target, errors.at(`${at}.target`));
    const { averageUtilization, averageValue } = named?.target ?? {};
    if (averageUtilization === undefined && averageValue === undefined) {
      errors.required(`${at}.target.averageUtilization`, why);
    }
    if (averageUtilization !== undefined && averageValue !== undefined) {
      const both = 'may not set both a target raw value and a target utilization';
      errors.forbidden(`${at}.target.averageValue`, both);
    }
    return;
  }
  const described = first === 'object' ? object?.describedObject : undefined;
  if (described !== undefined) validateReference(described, errors.at(`${at}.describedObject`));
  const source = { pods, object, external }[first];
  const name = source?.metric.name ?? '';
  if (name === '') errors.required(`${at}.metric.name`, 'must specify a metric name');
  else errors.invalidEach(`${at}.metric.name`, name, pathSegmentProblems(name));
  validateMetricTarget(source?.target, errors.at(`${at}.target`));
  const { value, averageValue } = source?.target ?? {};
  if (first === 'external' && value !== undefined && averageValue !== undefined) {
    const why = 'may not set both a target value for metric and a per-pod target';
    errors.forbidden(`${at}.target.value`, why);
  }
  if (averageValue !== undefined || (first !== 'pods' && value !== undefined)) return;
  errors.required(`${at}.target.averageValue`, missingTargets[first]);
}

/**
 * Checks the resource and the container of a `ContainerResource` metric. A `Resource` metric may have any resource
 * name.
 */
function validateContainerMetric(
  { name, container }: Wire<V2ContainerResourceMetricSource>,
  errors: FieldErrors,
): void {
  if (name !== '') validateContainerResource(name, errors.at('name'));
  if (container === '') errors.required('container', 'must specify a container');
  else errors.invalidEach('container', container, labelProblems(container));
}

const missingTargets = {
  pods: 'must specify a positive target averageValue',
  object: 'must set either a target value or averageValue',
  external: 'must set either a target value for metric or a per-pod target',
} as const;

function validateReference(
  { apiVersion = '', kind, name }: Wire<V2CrossVersionObjectReference>,
  errors: FieldErrors,
): void {
  for (const [member, value] of Object.entries({ kind, name })) {
    errors.requiredText(member, value, pathSegmentProblems);
  }
  if (apiVersion.split('/').length <= 2) return;
  errors.invalid('apiVersion', apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
}

const targetTypes = ['Utilization', 'Value', 'AverageValue'];

function validateMetricTarget(target: Wire<V2MetricTarget> | undefined, errors: FieldErrors): void {
  if (target === undefined) return;
  const { type, averageUtilization, value, averageValue } = target;
  if (type === '') errors.required('type', 'must specify a metric target type');
  if (!targetTypes.includes(type)) {
    errors.invalid('type', type, 'must be either Utilization, Value, or AverageValue');
  }
  for (const [member, amount] of Object.entries({ value, averageValue })) {
    if (amount !== undefined && /^(?:-|0$)/.test(amount)) {
      errors.invalid(member, amount, 'must be positive');
    }
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    errors.invalid('averageUtilization', averageUtilization, 'must be greater than 0');
  }
}

const hourSeconds = 3600;
const longestPeriodSeconds = 1800;
const policyTypes = ['Percent', 'Pods'];
const selectPolicies = ['Disabled', 'Max', 'Min'];

function validateRules(rules: Wire<V2HPAScalingRules>, errors: FieldErrors): void {
  const { stabilizationWindowSeconds: window, selectPolicy, policies = [], tolerance } = rules;
  if (window !== undefined && window < 0) {
    errors.invalid('stabilizationWindowSeconds', window, 'must be greater than or equal to zero');
  }
  if (window !== undefined && window > hourSeconds) {
    const why = `must be less than or equal to ${hourSeconds}`;
    errors.invalid('stabilizationWindowSeconds', window, why);
  }
  if (tolerance?.startsWith('-') === true) {
    errors.invalid('tolerance', tolerance, 'must be greater than or equal to 0');
  }
  errors.oneOf('selectPolicy', selectPolicy, selectPolicies);
  if (policies.length === 0) errors.required('policies', 'must specify at least one Policy');
  errors.each('policies', policies, ({ type, value, periodSeconds }, errors) => {
    errors.oneOf('type', type, policyTypes);
    const positive = 'must be greater than zero';
    if (value <= 0) errors.invalid('value', value, positive);
    if (periodSeconds <= 0) errors.invalid('periodSeconds', periodSeconds, positive);
    if (periodSeconds > longestPeriodSeconds) {
      const why = `must be less than or equal to ${longestPeriodSeconds}`;
      errors.invalid('periodSeconds', periodSeconds, why);
    }
  });
}
