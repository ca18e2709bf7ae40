import type { V1TopologySpreadConstraint } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import type { FieldErrors } from './field-errors.js';
import { validateLabelSelector } from './label-selector.js';
import { qualifiedNameProblems } from './names.js';

type Constraint = Wire<V1TopologySpreadConstraint>;

const actions = ['DoNotSchedule', 'ScheduleAnyway'];
const policies = ['Honor', 'Ignore'];
const positive = 'must be greater than zero';

/** Checks the topology spread constraints of a pod. */
export function validateTopologySpread(
  constraints: readonly Constraint[],
  field: string,
  errors: FieldErrors,
): void {
  for (const [index, constraint] of constraints.entries()) {
    const path = `${field}[${index}]`;
    validateConstraint(constraint, path, errors);
    const { topologyKey, whenUnsatisfiable } = constraint;
    const repeated = constraints
      .slice(index + 1)
      .some(
        (other) =>
          other.topologyKey === topologyKey && other.whenUnsatisfiable === whenUnsatisfiable,
      );
    if (!repeated) continue;
    const pair = `{${topologyKey}, ${whenUnsatisfiable}}`;
    errors.duplicate(`${path}.{topologyKey, whenUnsatisfiable}`, pair);
  }
}

function validateConstraint(constraint: Constraint, field: string, errors: FieldErrors): void {
  const { maxSkew, topologyKey, whenUnsatisfiable, minDomains, labelSelector } = constraint;
  if (maxSkew <= 0) errors.invalid(`${field}.maxSkew`, maxSkew, positive);
  if (topologyKey === '') errors.required(`${field}.topologyKey`, 'can not be empty');
  if (!actions.includes(whenUnsatisfiable)) {
    errors.notSupported(`${field}.whenUnsatisfiable`, whenUnsatisfiable, actions);
  }
  if (minDomains !== undefined) {
    if (minDomains <= 0) errors.invalid(`${field}.minDomains`, minDomains, positive);
    if (whenUnsatisfiable !== 'DoNotSchedule') {
      const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
      errors.invalid(`${field}.minDomains`, minDomains, why);
    }
  }
  for (const member of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
    const { [member]: policy } = constraint;
    if (policy === undefined || policies.includes(policy)) continue;
    errors.notSupported(`${field}.${member}`, policy, policies);
  }
  validateKeys(constraint, `${field}.matchLabelKeys`, errors);
  validateLabelSelector(labelSelector, `${field}.labelSelector`, errors);
}

function validateKeys(
  { matchLabelKeys = [], labelSelector }: Constraint,
  field: string,
  errors: FieldErrors,
): void {
  if (matchLabelKeys.length > 0 && labelSelector === undefined) {
    errors.forbidden(field, 'must not be specified when labelSelector is not set');
  }
  for (const [index, key] of matchLabelKeys.entries()) {
    for (const problem of qualifiedNameProblems(key)) {
      errors.invalid(`${field}[${index}]`, key, problem);
    }
  }
}
