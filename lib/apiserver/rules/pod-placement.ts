import type {
  V1Affinity,
  V1NodeSelector,
  V1NodeSelectorRequirement,
  V1NodeSelectorTerm,
  V1PodAffinity,
  V1PodAffinityTerm,
  V1TopologySpreadConstraint,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { labelProblems, qualifiedNameProblems, subdomainProblems } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { validateLabelSelector, validateRequirement, validateValues } from './metadata.js';

/** Checks the affinity of a pod. */
export function validateAffinity(
  { nodeAffinity, podAffinity, podAntiAffinity }: Wire<V1Affinity>,
  field: string,
  errors: FieldErrors,
): void {
  const {
    requiredDuringSchedulingIgnoredDuringExecution: required,
    preferredDuringSchedulingIgnoredDuringExecution: preferred = [],
  } = nodeAffinity ?? {};
  const path = `${field}.nodeAffinity`;
  if (required !== undefined) {
    validateNodeSelector(
      required,
      `${path}.requiredDuringSchedulingIgnoredDuringExecution`,
      errors,
    );
  }
  for (const [index, { weight, preference }] of preferred.entries()) {
    const at = `${path}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    validateWeight(weight, at, errors);
    validateTerm(preference, `${at}.preference`, { mayBeAny: true, errors });
  }
  validatePodAffinity(podAffinity ?? {}, `${field}.podAffinity`, errors);
  validatePodAffinity(podAntiAffinity ?? {}, `${field}.podAntiAffinity`, errors);
}

function validateWeight(weight: number, field: string, errors: FieldErrors): void {
  if (weight >= 1 && weight <= 100) return;
  errors.invalid(`${field}.weight`, weight, 'must be in the range 1-100');
}

/** Checks the node selector of a pod or a volume. */
export function validateNodeSelector(
  { nodeSelectorTerms }: Wire<V1NodeSelector>,
  field: string,
  errors: FieldErrors,
): void {
  // Go's zero value is null.
  const terms = (nodeSelectorTerms as typeof nodeSelectorTerms | null) ?? [];
  const path = `${field}.nodeSelectorTerms`;
  if (terms.length === 0) errors.required(path, 'must have at least one node selector term');
  for (const [index, term] of terms.entries()) {
    validateTerm(term, `${path}[${index}]`, { mayBeAny: false, errors });
  }
}

/** @param mayBeAny - whether values may be others than those of labels, as in preferences */
function validateTerm(
  { matchExpressions = [], matchFields = [] }: Wire<V1NodeSelectorTerm>,
  field: string,
  { mayBeAny, errors }: { readonly mayBeAny: boolean; readonly errors: FieldErrors },
): void {
  errors.each(`${field}.matchExpressions`, matchExpressions, (requirement, path) => {
    validateNodeRequirement(requirement, path, errors);
    if (!mayBeAny) validateValues(requirement, path, errors);
  });
  errors.each(`${field}.matchFields`, matchFields, validateFieldRequirement);
}

function validateNodeRequirement(
  requirement: Wire<V1NodeSelectorRequirement>,
  field: string,
  errors: FieldErrors,
): void {
  const { key, operator, values = [] } = requirement;
  if (operator !== 'Gt' && operator !== 'Lt') {
    validateRequirement(requirement, field, errors);
    return;
  }
  const why = "must be specified single value when `operator` is 'Lt' or 'Gt'";
  if (values.length !== 1) errors.required(`${field}.values`, why);
  errors.text(`${field}.key`, key, qualifiedNameProblems);
}

function validateFieldRequirement(
  { key, operator, values = [] }: Wire<V1NodeSelectorRequirement>,
  field: string,
  errors: FieldErrors,
): void {
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.invalid(`${field}.operator`, operator, 'not a valid selector operator');
  } else if (values.length !== 1) {
    const why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.required(`${field}.values`, why);
  }
  if (key !== 'metadata.name') {
    errors.invalid(`${field}.key`, key, 'not a valid field selector key');
    return;
  }
  for (const [index, value] of values.entries()) {
    errors.invalidEach(`${field}.values[${index}]`, value, subdomainProblems(value));
  }
}

function validatePodAffinity(
  affinity: Wire<V1PodAffinity>,
  field: string,
  errors: FieldErrors,
): void {
  const {
    requiredDuringSchedulingIgnoredDuringExecution: required = [],
    preferredDuringSchedulingIgnoredDuringExecution: preferred = [],
  } = affinity;
  for (const [index, term] of required.entries()) {
    const at = `${field}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`;
    validatePodAffinityTerm(term, at, errors);
  }
  for (const [index, { weight, podAffinityTerm }] of preferred.entries()) {
    const at = `${field}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    validateWeight(weight, at, errors);
    validatePodAffinityTerm(podAffinityTerm, `${at}.podAffinityTerm`, errors);
  }
}

function validatePodAffinityTerm(
  term: Wire<V1PodAffinityTerm>,
  field: string,
  errors: FieldErrors,
): void {
  const { labelSelector, namespaceSelector, namespaces = [], topologyKey } = term;
  validateLabelSelector(labelSelector, `${field}.labelSelector`, errors);
  validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`, errors);
  for (const name of namespaces) {
    errors.invalidEach(`${field}.namespace`, name, labelProblems(name));
  }
  validateLabelKeys(term, field, errors);
  if (topologyKey === '') errors.required(`${field}.topologyKey`, 'can not be empty');
  errors.invalidEach(`${field}.topologyKey`, topologyKey, qualifiedNameProblems(topologyKey));
}

function validateLabelKeys(
  { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: Wire<V1PodAffinityTerm>,
  field: string,
  errors: FieldErrors,
): void {
  for (const [member, keys] of Object.entries({ matchLabelKeys, mismatchLabelKeys })) {
    if (keys.length > 0 && labelSelector === undefined) {
      const why = 'must not be specified when labelSelector is not set';
      errors.forbidden(`${field}.${member}`, why);
      continue;
    }
    for (const [index, key] of keys.entries()) {
      errors.invalidEach(`${field}.${member}[${index}]`, key, qualifiedNameProblems(key));
    }
  }
  for (const [index, key] of matchLabelKeys.entries()) {
    if (!mismatchLabelKeys.includes(key)) continue;
    const why = 'exists in both matchLabelKeys and mismatchLabelKeys';
    errors.invalid(`${field}.matchLabelKeys[${index}]`, key, why);
  }
}

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
  errors.oneOf(`${field}.whenUnsatisfiable`, whenUnsatisfiable, actions);
  if (minDomains !== undefined) {
    if (minDomains <= 0) errors.invalid(`${field}.minDomains`, minDomains, positive);
    if (whenUnsatisfiable !== 'DoNotSchedule') {
      const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
      errors.invalid(`${field}.minDomains`, minDomains, why);
    }
  }
  for (const member of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
    const { [member]: policy } = constraint;
    errors.oneOf(`${field}.${member}`, policy, policies);
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
    errors.invalidEach(`${field}[${index}]`, key, qualifiedNameProblems(key));
  }
}
