import type { V1ResourceRequirements } from '@kubernetes/client-node';
import { compareQuantities } from '../../object/quantity.js';
import type { Wire } from '../../object/wire.js';
import type { FieldErrors } from './field-errors.js';
import { qualifiedNameProblems } from './names.js';

const standard = ['cpu', 'memory', 'ephemeral-storage'];

/** Checks requests and limits: known names, no negative amounts, no request above its limit. */
export function validateResources(
  resources: Wire<V1ResourceRequirements> | undefined,
  field: string,
  errors: FieldErrors,
): void {
  const { limits = {}, requests = {} } = resources ?? {};
  for (const [name, amount] of Object.entries(limits)) {
    validateAmount(`${field}.limits`, { name, amount }, errors);
  }
  for (const [name, amount] of Object.entries(requests)) {
    validateAmount(`${field}.requests`, { name, amount }, errors);
    const { [name]: limit } = limits;
    if (limit === undefined || compareQuantities(amount, limit) <= 0) continue;
    const why = `must be less than or equal to ${name} limit of ${limit}`;
    errors.invalid(`${field}.requests`, amount, why);
  }
}

function validateAmount(
  field: string,
  { name, amount }: { name: string; amount: string },
  errors: FieldErrors,
): void {
  for (const problem of qualifiedNameProblems(name)) errors.invalid(field, name, problem);
  const known = standard.includes(name) || name.includes('/') || name.startsWith('hugepages-');
  if (!known) {
    const path = `${field}[${name}]`;
    errors.invalid(path, name, 'must be a standard resource type or fully qualified');
    errors.invalid(path, name, 'must be a standard resource for containers');
  }
  if (compareQuantities(amount, 0) < 0) {
    errors.invalid(`${field}[${name}]`, amount, 'must be greater than or equal to 0');
  }
}
