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

export function validateAffinity(
  { nodeAffinity, podAffinity, podAntiAffinity }: Wire<V1Affinity>,
  errors: FieldErrors,
): void {
  const {
    requiredDuringSchedulingIgnoredDuringExecution: required,
    preferredDuringSchedulingIgnoredDuringExecution: preferred = [],
  } = nodeAffinity ?? {};
  const path = 'nodeAffinity';
  if (required !== undefined) {
    validateNodeSelector(
      required,
      errors.at(`${path}.requiredDuringSchedulingIgnoredDuringExecution`),
    );
  }
  errors.each(
    `${path}.preferredDuringSchedulingIgnoredDuringExecution`,
    preferred,
    ({ weight, preference }, errors) => {
      validateWeight(weight, errors);
      validateTerm(preference, true, errors.at('preference'));
    },
  );
  validatePodAffinity(podAffinity ?? {}, errors.at('podAffinity'));
  validatePodAffinity(podAntiAffinity ?? {}, errors.at('podAntiAffinity'));
}

function validateWeight(weight: number, errors: FieldErrors): void {
  if (weight >= 1 && weight <= 100) return;
  errors.invalid('weight', weight, 'must be in the range 1-100');
}

/** Checks the node selector of a pod or a volume. */
export function validateNodeSelector(
  { nodeSelectorTerms }: Wire<V1NodeSelector>,
  errors: FieldErrors,
): void {
  // The decoder sets a missing list to null, as Go does.
  const terms = (nodeSelectorTerms as typeof nodeSelectorTerms | null) ?? [];
  const path = 'nodeSelectorTerms';
  if (terms.length === 0) errors.required(path, 'must have at least one node selector term');
  errors.each(path, terms, (term, errors) => {
    validateTerm(term, false, errors);
  });
}

/** @param mayBeAny - whether values need not be valid label values, as in preferred terms */
function validateTerm(
  { matchExpressions = [], matchFields = [] }: Wire<V1NodeSelectorTerm>,
  mayBeAny: boolean,
  errors: FieldErrors,
): void {
  errors.each('matchExpressions', matchExpressions, (requirement, errors) => {
    validateNodeRequirement(requirement, errors);
    if (!mayBeAny) validateValues(requirement, errors);
  });
  errors.each('matchFields', matchFields, validateFieldRequirement);
}

function validateNodeRequirement(
  requirement: Wire<V1NodeSelectorRequirement>,
  errors: FieldErrors,
): void {
  const { key, operator, values = [] } = requirement;
  if (operator !== 'Gt' && operator !== 'Lt') {
    validateRequirement(requirement, errors);
    return;
  }
  const why = "must be specified single value when `operator` is 'Lt' or 'Gt'";
  if (values.length !== 1) errors.required('values', why);
  errors.text('key', key, qualifiedNameProblems);
}

function validateFieldRequirement(
  { key, operator, values = [] }: Wire<V1NodeSelectorRequirement>,
  errors: FieldErrors,
): void {
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.invalid('operator', operator, 'not a valid selector operator');
  } else if (values.length !== 1) {
    const why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.required('values', why);
  }
  if (key !== 'metadata.name') {
    errors.invalid('key', key, 'not a valid field selector key');
    return;
  }
  errors.each('values', values, (value, errors) => {
    errors.invalidEach('', value, subdomainProblems(value));
  });
}

function validatePodAffinity(affinity: Wire<V1PodAffinity>, errors: FieldErrors): void {
  const {
    requiredDuringSchedulingIgnoredDuringExecution: required = [],
    preferredDuringSchedulingIgnoredDuringExecution: preferred = [],
  } = affinity;
  errors.each('requiredDuringSchedulingIgnoredDuringExecution', required, validatePodAffinityTerm);
  errors.each(
    'preferredDuringSchedulingIgnoredDuringExecution',
    preferred,
    ({ weight, podAffinityTerm }, errors) => {
      validateWeight(weight, errors);
      validatePodAffinityTerm(podAffinityTerm, errors.at('podAffinityTerm'));
    },
  );
}

function validatePodAffinityTerm(term: Wire<V1PodAffinityTerm>, errors: FieldErrors): void {
  const { labelSelector, namespaceSelector, namespaces = [], topologyKey } = term;
  validateLabelSelector(labelSelector, errors.at('labelSelector'));
  validateLabelSelector(namespaceSelector, errors.at('namespaceSelector'));
  for (const name of namespaces) {
    errors.invalidEach('namespace', name, labelProblems(name));
  }
  validateLabelKeys(term, errors);
  if (topologyKey === '') errors.required('topologyKey', 'can not be empty');
  errors.invalidEach('topologyKey', topologyKey, qualifiedNameProblems(topologyKey));
}

function validateLabelKeys(
  { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: Wire<V1PodAffinityTerm>,
  errors: FieldErrors,
): void {
  for (const [member, keys] of Object.entries({ matchLabelKeys, mismatchLabelKeys })) {
    if (keys.length > 0 && labelSelector === undefined) {
      errors.forbidden(member, 'must not be specified when labelSelector is not set');
      continue;
    }
    errors.each(member, keys, (key, errors) => {
      errors.invalidEach('', key, qualifiedNameProblems(key));
    });
  }
  errors.each('matchLabelKeys', matchLabelKeys, (key, errors) => {
    if (!mismatchLabelKeys.includes(key)) return;
    errors.invalid('', key, 'exists in both matchLabelKeys and mismatchLabelKeys');
  });
}

type Constraint = Wire<V1TopologySpreadConstraint>;

const actions = ['DoNotSchedule', 'ScheduleAnyway'];
const policies = ['Honor', 'Ignore'];
const positive = 'must be greater than zero';

export function validateTopologySpread(
  constraints: readonly Constraint[],
  errors: FieldErrors,
): void {
  for (const [index, constraint] of constraints.entries()) {
    const path = `[${index}]`;
    validateConstraint(constraint, errors.at(path));
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

function validateConstraint(constraint: Constraint, errors: FieldErrors): void {
  const { maxSkew, topologyKey, whenUnsatisfiable, minDomains, labelSelector } = constraint;
  if (maxSkew <= 0) errors.invalid('maxSkew', maxSkew, positive);
  if (topologyKey === '') errors.required('topologyKey', 'can not be empty');
  errors.oneOf('whenUnsatisfiable', whenUnsatisfiable, actions);
  if (minDomains !== undefined) {
    if (minDomains <= 0) errors.invalid('minDomains', minDomains, positive);
    if (whenUnsatisfiable !== 'DoNotSchedule') {
      const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
      errors.invalid('minDomains', minDomains, why);
    }
  }
  for (const member of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
    const { [member]: policy } = constraint;
    errors.oneOf(member, policy, policies);
  }
  validateKeys(constraint, errors.at('matchLabelKeys'));
  validateLabelSelector(labelSelector, errors.at('labelSelector'));
}

function validateKeys(
  { matchLabelKeys = [], labelSelector }: Constraint,
  errors: FieldErrors,
): void {
  if (matchLabelKeys.length > 0 && labelSelector === undefined) {
    errors.forbidden('', 'must not be specified when labelSelector is not set');
    return;
  }
  errors.each('', matchLabelKeys, (key, errors) => {
    errors.invalidEach('', key, qualifiedNameProblems(key));
  });
}
