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

/**
 * Checks the policies of a Job: pod replacement, pod failure, success, and the controller that
 * manages it.
 */
export function validateJobPolicies(spec: JobSpec, field: string, errors: FieldErrors): void {
  const { podReplacementPolicy, podFailurePolicy, managedBy, successPolicy } = spec;
  if (podReplacementPolicy !== undefined) {
    const supported = podFailurePolicy === undefined ? replacements : ['Failed'];
    errors.oneOf(`${field}.podReplacementPolicy`, podReplacementPolicy, supported);
  }
  if (podFailurePolicy !== undefined) {
    validateFailurePolicy(podFailurePolicy, spec, { field: `${field}.podFailurePolicy`, errors });
  }
  if (managedBy !== undefined) validateManager(managedBy, `${field}.managedBy`, errors);
  if (successPolicy === undefined) return;
  if (spec.completionMode === 'Indexed') {
    validateSuccessPolicy(spec, `${field}.successPolicy.rules`, errors);
  } else {
    errors.invalid(`${field}.successPolicy`, successPolicy, 'requires indexed completion mode');
  }
}

function validateManager(manager: string, field: string, errors: FieldErrors): void {
  if (manager === '') {
    errors.required(field);
    return;
  }
  for (const { value, problem } of domainPathProblems(manager)) {
    errors.invalid(field, value, problem);
  }
  if (manager.length > managerLimit) errors.tooLong(field, managerLimit);
}

/** The place of a value, and the problems found so far. */
interface At {
  readonly field: string;
  readonly errors: FieldErrors;
}

function validateFailurePolicy(
  { rules }: Wire<V1PodFailurePolicy>,
  spec: JobSpec,
  { field, errors }: At,
): void {
  // Go's zero value is null.
  const given = (rules as typeof rules | null) ?? [];
  if (given.length > rulesLimit) errors.tooMany(`${field}.rules`, given.length, rulesLimit);
  for (const [index, rule] of given.entries()) {
    validateRule(rule, spec, { field: `${field}.rules[${index}]`, errors });
  }
}

/** Lists values as Go's `%q` does. */
function validValues(values: readonly string[]): string {
  return `valid values: [${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}

function validateChoice(value: string, supported: readonly string[], { field, errors }: At): void {
  if (value === '') errors.required(field, validValues(supported));
  else errors.oneOf(field, value, supported);
}

function validateRule(rule: Wire<V1PodFailurePolicyRule>, spec: JobSpec, at: At): void {
  const { field, errors } = at;
  const { action, onExitCodes, onPodConditions = [] } = rule;
  validateChoice(action, actions, { field: `${field}.action`, errors });
  if (action === 'FailIndex' && spec.backoffLimitPerIndex === undefined) {
    errors.invalid(`${field}.action`, action, 'requires the backoffLimitPerIndex to be set');
  }
  if (onExitCodes !== undefined) {
    validateExitCodes(onExitCodes, spec, { field: `${field}.onExitCodes`, errors });
  }
  validateConditions(onPodConditions, { field: `${field}.onPodConditions`, errors });
  const both = onExitCodes !== undefined && onPodConditions.length > 0;
  if (both) errors.wrong(field, 'specifying both OnExitCodes and OnPodConditions is not supported');
  else if (onExitCodes === undefined && onPodConditions.length === 0) {
    errors.wrong(field, 'specifying one of OnExitCodes and OnPodConditions is required');
  }
}

function validateExitCodes(
  requirement: Wire<V1PodFailurePolicyOnExitCodesRequirement>,
  spec: JobSpec,
  { field, errors }: At,
): void {
  const { containerName, operator, values } = requirement;
  validateChoice(operator, operators, { field: `${field}.operator`, errors });
  if (containerName !== undefined && !containerNames(spec).includes(containerName)) {
    const why = 'must be one of the container or initContainer names in the pod template';
    errors.invalid(`${field}.containerName`, containerName, why);
  }
  const path = `${field}.values`;
  // Go's zero value is null.
  const codes = (values as typeof values | null) ?? [];
  const shown = hadEmptyMember(requirement, 'values') ? [] : values;
  if (codes.length === 0) errors.invalid(path, shown, 'at least one value is required');
  else if (codes.length > exitCodesLimit) errors.tooMany(path, codes.length, exitCodesLimit);
  const seen = new Set<number>();
  for (const [index, code] of codes.entries()) {
    const own = `${path}[${index}]`;
    if (operator === 'In' && code === 0) {
      errors.invalid(own, code, 'must not be 0 for the In operator');
    }
    errors.unique(own, code, seen);
  }
  const isOrdered = codes.every((code, index) => index === 0 || (codes[index - 1] ?? 0) <= code);
  if (!isOrdered) errors.invalid(path, codes, 'must be ordered');
}

function containerNames({ template }: JobSpec): readonly string[] {
  const { containers, initContainers = [] } = template.spec ?? {};
  return [...(containers ?? []), ...initContainers].map(({ name }) => name);
}

function validateConditions(
  patterns: readonly Wire<V1PodFailurePolicyOnPodConditionsPattern>[],
  { field, errors }: At,
): void {
  if (patterns.length > conditionsLimit) errors.tooMany(field, patterns.length, conditionsLimit);
  for (const [index, { type, status = '' }] of patterns.entries()) {
    const path = `${field}[${index}]`;
    errors.invalidEach(`${path}.type`, type, qualifiedNameProblems(type));
    validateChoice(status, statuses, { field: `${path}.status`, errors });
  }
}

function validateSuccessPolicy(spec: JobSpec, field: string, errors: FieldErrors): void {
  const { successPolicy, completions = 0 } = spec;
  // Go's zero value is null.
  const rules = (successPolicy?.rules as Wire<V1SuccessPolicyRule>[] | null | undefined) ?? [];
  if (rules.length === 0) {
    const why = 'at least one rules must be specified when the successPolicy is specified';
    errors.required(field, why);
  }
  if (rules.length > rulesLimit) errors.tooMany(field, rules.length, rulesLimit);
  for (const [index, rule] of rules.entries()) {
    validateSuccessRule(rule, `${field}[${index}]`, { completions, errors });
  }
}

function validateSuccessRule(
  { succeededCount: count, succeededIndexes: indexes }: Wire<V1SuccessPolicyRule>,
  field: string,
  { completions, errors }: { readonly completions: number; readonly errors: FieldErrors },
): void {
  if (count === undefined && indexes === undefined) {
    const why = 'at least one of succeededCount or succeededIndexes must be specified';
    errors.required(field, why);
  }
  const listed = indexes === undefined ? undefined : countOfIndexes(indexes, completions);
  if (typeof listed === 'string') {
    const why = `error parsing succeededIndexes: ${listed}`;
    errors.invalid(`${field}.succeededIndexes`, indexes, why);
  }
  if (count === undefined) return;
  const path = `${field}.succeededCount`;
  validateNonnegative(count, path, errors);
  const atMost = (most: number, what: string): void => {
    if (count <= most) return;
    errors.invalid(path, count, `must be less than or equal to ${most} (the number of ${what})`);
  };
  atMost(completions, 'specified completions');
  if (listed === undefined) return;
  const what = 'indexes in the specified succeededIndexes field';
  atMost(typeof listed === 'number' ? listed : 0, what);
}
