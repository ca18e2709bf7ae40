import type {
  V1JobSpec,
  V1PodFailurePolicy,
  V1PodFailurePolicyOnExitCodesRequirement,
  V1PodFailurePolicyOnPodConditionsPattern,
  V1PodFailurePolicyRule,
  V1SuccessPolicyRule,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { domainPathProblems, qualifiedNameProblems } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { hadEmptyMember } from '../go-json/go-types.js';
import { validateNonnegative } from './field-values.js';
import { countOfIndexes } from './job-indexes.js';

type JobSpec = Wire<V1JobSpec>;

const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const operators = ['In', 'NotIn'];
const statuses = ['False', 'True', 'Unknown'];
const replacements = ['Failed', 'TerminatingOrFailed'];

const rulesLimit = 20;
const exitCodesLimit = 255;
const conditionsLimit = 20;
const managerLimit = 63;

/** Checks the policies of a Job: pod replacement, pod failure, success, and the controller that manages it. */
export function validateJobPolicies(spec: JobSpec, errors: FieldErrors): void {
  const { podReplacementPolicy, podFailurePolicy, managedBy, successPolicy } = spec;
  if (podReplacementPolicy !== undefined) {
    const supported = podFailurePolicy === undefined ? replacements : ['Failed'];
    errors.oneOf('podReplacementPolicy', podReplacementPolicy, supported);
  }
  if (podFailurePolicy !== undefined) {
    validateFailurePolicy(podFailurePolicy, spec, errors.at('podFailurePolicy'));
  }
  if (managedBy !== undefined) validateManager(managedBy, errors.at('managedBy'));
  if (successPolicy === undefined) return;
  if (spec.completionMode === 'Indexed') {
    validateSuccessPolicy(spec, errors.at('successPolicy.rules'));
  } else {
    errors.invalid('successPolicy', successPolicy, 'requires indexed completion mode');
  }
}

function validateManager(manager: string, errors: FieldErrors): void {
  if (manager === '') {
    errors.required('');
    return;
  }
  for (const { value, problem } of domainPathProblems(manager)) {
    errors.invalid('', value, problem);
  }
  if (manager.length > managerLimit) errors.tooLong('', managerLimit);
}

function validateFailurePolicy(
  { rules }: Wire<V1PodFailurePolicy>,
  spec: JobSpec,
  errors: FieldErrors,
): void {
  // The decoder sets a missing list to null, as Go does.
  const given = (rules as typeof rules | null) ?? [];
  if (given.length > rulesLimit) errors.tooMany('rules', given.length, rulesLimit);
  errors.each('rules', given, (rule, errors) => {
    validateRule(rule, spec, errors);
  });
}

/** Lists values as Go's `%q` does. */
function validValues(values: readonly string[]): string {
  return `valid values: [${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}

function validateChoice(value: string, supported: readonly string[], errors: FieldErrors): void {
  if (value === '') errors.required('', validValues(supported));
  else errors.oneOf('', value, supported);
}

function validateRule(
  rule: Wire<V1PodFailurePolicyRule>,
  spec: JobSpec,
  errors: FieldErrors,
): void {
  const { action, onExitCodes, onPodConditions = [] } = rule;
  validateChoice(action, actions, errors.at('action'));
  if (action === 'FailIndex' && spec.backoffLimitPerIndex === undefined) {
    errors.invalid('action', action, 'requires the backoffLimitPerIndex to be set');
  }
  if (onExitCodes !== undefined) validateExitCodes(onExitCodes, spec, errors.at('onExitCodes'));
  validateConditions(onPodConditions, errors.at('onPodConditions'));
  const both = onExitCodes !== undefined && onPodConditions.length > 0;
  if (both) errors.wrong('', 'specifying both OnExitCodes and OnPodConditions is not supported');
  else if (onExitCodes === undefined && onPodConditions.length === 0) {
    errors.wrong('', 'specifying one of OnExitCodes and OnPodConditions is required');
  }
}

function validateExitCodes(
  requirement: Wire<V1PodFailurePolicyOnExitCodesRequirement>,
  spec: JobSpec,
  errors: FieldErrors,
): void {
  const { containerName, operator, values } = requirement;
  validateChoice(operator, operators, errors.at('operator'));
  if (containerName !== undefined && !containerNames(spec).includes(containerName)) {
    const why = 'must be one of the container or initContainer names in the pod template';
    errors.invalid('containerName', containerName, why);
  }
  const path = 'values';
  // The decoder sets a missing list to null, as Go does.
  const codes = (values as typeof values | null) ?? [];
  const shown = hadEmptyMember(requirement, 'values') ? [] : values;
  if (codes.length === 0) errors.invalid(path, shown, 'at least one value is required');
  else if (codes.length > exitCodesLimit) errors.tooMany(path, codes.length, exitCodesLimit);
  const seen = new Set<number>();
  errors.each(path, codes, (code, errors) => {
    if (operator === 'In' && code === 0) {
      errors.invalid('', code, 'must not be 0 for the In operator');
    }
    errors.unique('', code, seen);
  });
  const isOrdered = codes.every((code, index) => index === 0 || (codes[index - 1] ?? 0) <= code);
  if (!isOrdered) errors.invalid(path, codes, 'must be ordered');
}

function containerNames({ template }: JobSpec): readonly string[] {
  const { containers, initContainers = [] } = template.spec ?? {};
  return [...(containers ?? []), ...initContainers].map(({ name }) => name);
}

function validateConditions(
  patterns: readonly Wire<V1PodFailurePolicyOnPodConditionsPattern>[],
  errors: FieldErrors,
): void {
  if (patterns.length > conditionsLimit) errors.tooMany('', patterns.length, conditionsLimit);
  errors.each('', patterns, ({ type, status }, errors) => {
    errors.invalidEach('type', type, qualifiedNameProblems(type));
    validateChoice(status, statuses, errors.at('status'));
  });
}

function validateSuccessPolicy(spec: JobSpec, errors: FieldErrors): void {
  const { successPolicy, completions = 0 } = spec;
  // The decoder sets a missing list to null, as Go does.
  const rules = (successPolicy?.rules as Wire<V1SuccessPolicyRule>[] | null | undefined) ?? [];
  if (rules.length === 0) {
    errors.required('', 'at least one rules must be specified when the successPolicy is specified');
  }
  if (rules.length > rulesLimit) errors.tooMany('', rules.length, rulesLimit);
  errors.each('', rules, (rule, errors) => {
    validateSuccessRule(rule, completions, errors);
  });
}

function validateSuccessRule(
  { succeededCount: count, succeededIndexes: indexes }: Wire<V1SuccessPolicyRule>,
  completions: number,
  errors: FieldErrors,
): void {
  if (count === undefined && indexes === undefined) {
    errors.required('', 'at least one of succeededCount or succeededIndexes must be specified');
  }
  const listed = indexes === undefined ? undefined : countOfIndexes(indexes, completions);
  if (typeof listed === 'string') {
    errors.invalid('succeededIndexes', indexes, `error parsing succeededIndexes: ${listed}`);
  }
  if (count === undefined) return;
  const path = 'succeededCount';
  validateNonnegative(count, errors.at(path));
  const atMost = (most: number, what: string): void => {
    if (count <= most) return;
    errors.invalid(path, count, `must be less than or equal to ${most} (the number of ${what})`);
  };
  atMost(completions, 'specified completions');
  if (listed === undefined) return;
  const what = 'indexes in the specified succeededIndexes field';
  atMost(typeof listed === 'number' ? listed : 0, what);
}
