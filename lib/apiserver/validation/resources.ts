import type { V1ResourceRequirements } from '@kubernetes/client-node';
import { compareQuantities } from '../../object/quantity.js';
import type { Wire } from '../../object/wire.js';
import type { FieldErrors } from './field-errors.js';
import { qualifiedNameProblems } from './names.js';

const standard = ['cpu', 'memory', 'ephemeral-storage'];

/** Checks requests and limits: known names, no negative amounts, no request larger than its limit. */
export function validateResources(
  resources: Wire<V1ResourceRequirements> | undefined,
  field: string,
  { noClaims, errors }: { readonly noClaims: boolean; readonly errors: FieldErrors },
): void {
  const { limits = {}, requests = {} } = resources ?? {};
  for (const [name, amount] of Object.entries(limits)) {
    validateAmount(`${field}.limits`, { name, amount }, errors);
  }
  for (const [name, amount] of Object.entries(requests)) {
    validateAmount(`${field}.requests`, { name, amount }, errors);
    const { [name]: limit } = limits;
    const whole = !isDivisible(name);
    if (limit === undefined) {
      if (whole) {
        const why = 'Limit must be set for non overcommitable resources';
        errors.required(`${field}.limits`, why);
      }
      continue;
    }
    const difference = compareQuantities(amount, limit);
    if (whole && difference !== 0) {
      errors.invalid(`${field}.requests`, amount, `must be equal to ${name} limit of ${limit}`);
    } else if (difference > 0) {
      const why = `must be less than or equal to ${name} limit of ${limit}`;
      errors.invalid(`${field}.requests`, amount, why);
    }
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  const huge = names.some((name) => name.startsWith('hugepages-'));
  if (huge && !names.includes('cpu') && !names.includes('memory')) {
    errors.forbidden(field, 'HugePages require cpu or memory');
  }
  for (const [index, { name }] of (resources?.claims ?? []).entries()) {
    // The names of claims are not compared: only a pod without claims is an error here.
    const why = 'must be one of the names in pod.spec.resourceClaims which is empty';
    if (noClaims) errors.notFound(`${field}.claims[${index}]`, name, why);
  }
}

/**
 * Returns whether a request may be smaller than its limit. Resources that come in whole units do
 * not allow it.
 */
function isDivisible(name: string): boolean {
  return !name.includes('/') && !name.startsWith('hugepages-');
}

function validateAmount(
  field: string,
  { name, amount }: { name: string; amount: string },
  errors: FieldErrors,
): void {
  const path = `${field}[${name}]`;
  const problems = qualifiedNameProblems(name);
  for (const problem of problems) errors.invalid(path, name, problem);
  const known = standard.includes(name) || name.includes('/') || name.startsWith('hugepages-');
  if (name.includes('/') && problems.length > 0) {
    errors.invalid(path, name, "doesn't follow extended resource name standard");
  }
  if (!known) {
    errors.invalid(path, name, 'must be a standard resource type or fully qualified');
    errors.invalid(path, name, 'must be a standard resource for containers');
  }
  if (compareQuantities(amount, 0) < 0) {
    errors.invalid(path, amount, 'must be greater than or equal to 0');
  }
}
