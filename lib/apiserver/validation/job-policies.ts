import type { V1JobSpec, V1PodFailurePolicyRule } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import type { FieldErrors } from './field-errors.js';
import { domainPathProblems, qualifiedNameProblems } from './names.js';

type JobSpec = Wire<V1JobSpec>;

const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const operators = ['In', 'NotIn'];
const replacements = ['Failed', 'TerminatingOrFailed'];

/**
 * Checks the policies of a Job: pod replacement, pod failure, success, and the controller that
 * manages it.
 */
export function validateJobPolicies(spec: JobSpec, field: string, errors: FieldErrors): void {
  const { podReplacementPolicy, podFailurePolicy, managedBy, successPolicy } = spec;
  if (podReplacementPolicy !== undefined) {
    const supported = podFailurePolicy === undefined ? replacements : ['Failed'];
    if (!supported.includes(podReplacementPolicy)) {
      errors.notSupported(`${field}.podReplacementPolicy`, podReplacementPolicy, supported);
    }
  }
  for (const [index, rule] of (podFailurePolicy?.rules ?? []).entries()) {
    validateRule(rule, `${field}.podFailurePolicy.rules[${index}]`, errors);
  }
  for (const problem of managedBy === undefined ? [] : domainPathProblems(managedBy)) {
    errors.invalid(`${field}.managedBy`, managedBy, problem);
  }
  if (successPolicy !== undefined && spec.completionMode !== 'Indexed') {
    errors.invalid(`${field}.successPolicy`, successPolicy, 'requires indexed completion mode');
  }
}

function validateRule(
  { action, onExitCodes, onPodConditions = [] }: Wire<V1PodFailurePolicyRule>,
  field: string,
  errors: FieldErrors,
): void {
  if (action === '') errors.required(`${field}.action`, `valid values: ${actions.join(', ')}`);
  else if (!actions.includes(action)) errors.notSupported(`${field}.action`, action, actions);
  if (onExitCodes !== undefined) {
    const { operator, values } = onExitCodes;
    if (!operators.includes(operator)) {
      errors.notSupported(`${field}.onExitCodes.operator`, operator, operators);
    }
    const codes = (values as number[] | null) ?? [];
    if (codes.length === 0) {
      errors.invalid(`${field}.onExitCodes.values`, codes, 'at least one value is required');
    }
  }
  for (const [index, { type }] of onPodConditions.entries()) {
    for (const problem of qualifiedNameProblems(type)) {
      errors.invalid(`${field}.onPodConditions[${index}].type`, type, problem);
    }
  }
  const both = onExitCodes !== undefined && onPodConditions.length > 0;
  if (both) errors.wrong(field, 'specifying both OnExitCodes and OnPodConditions is not supported');
  else if (onExitCodes === undefined && onPodConditions.length === 0) {
    errors.wrong(field, 'specifying one of OnExitCodes and OnPodConditions is required');
  }
}
