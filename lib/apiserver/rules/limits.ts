import type {
  V1LimitRange,
  V1LimitRangeItem,
  V1ResourceQuota,
  V1ResourceRequirements,
  V1ScopeSelector,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { qualifiedNameProblems } from '../../crd/internal.js';
import { compareQuantities } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';
import { countedCollections } from './quota.js';

type Item = Wire<V1LimitRangeItem>;

const itemTypes = ['Pod', 'Container', 'PersistentVolumeClaim'];

function validateLimits({ spec }: Wire<V1LimitRange>, errors: FieldErrors): void {
  const limits = (spec?.limits as Item[] | null) ?? [];
  const types = new Set<string>();
  for (const [index, item] of limits.entries()) {
    const field = `spec.limits[${index}]`;
    const { type, min, max } = item;
    const problems = qualifiedNameProblems(type);
    errors.invalidEach(`${field}.type`, type, problems);
    if (problems.length === 0 && !itemTypes.includes(type) && !type.includes('/')) {
      const why = 'must be a standard limit type or fully qualified';
      errors.invalid(`${field}.type`, type, why);
    }
    if (types.has(type)) errors.duplicate(`${field}.type`, type);
    types.add(type);
    for (const member of type === 'Pod' ? (['default', 'defaultRequest'] as const) : []) {
      if (item[member] === undefined) continue;
      errors.forbidden(`${field}.${member}`, "may not be specified when `type` is 'Pod'");
    }
    if (type === 'PersistentVolumeClaim') {
      if (min?.['storage'] === undefined && max?.['storage'] === undefined) {
        const why = 'either minimum or maximum storage value is required, but neither was provided';
        errors.required(`${field}.limits`, why);
      }
    }
    validateOrder(item, field, errors);
  }
}

/**
 * Pairs of bounds, each as: the bound in the error's path, the smaller bound, the larger bound, the name of
 * the larger bound in the message, the bound whose value the error shows.
 */
const ordered = [
  ['min', 'min', 'max', 'max', 'min'],
  ['defaultRequest', 'min', 'defaultRequest', 'default request', 'defaultRequest'],
  ['defaultRequest', 'defaultRequest', 'max', 'max', 'defaultRequest'],
  ['defaultRequest', 'defaultRequest', 'default', 'default limit', 'defaultRequest'],
  // The real server shows the other value here.
  ['default', 'min', 'default', 'default', 'min'],
  ['default', 'default', 'max', 'max', 'default'],
] as const;

const shown = {
  min: 'min',
  max: 'max',
  default: 'default',
  defaultRequest: 'default request',
} as const;

/** Checks that smaller bounds do not exceed larger ones. */
function validateOrder(item: Item, field: string, errors: FieldErrors): void {
  const names = new Set(
    [item.min, item.max, item.default, item.defaultRequest].flatMap((list) =>
      Object.keys(list ?? {}),
    ),
  );
  for (const name of names) {
    for (const [blamed, smaller, larger, word, quoted] of ordered) {
      const [low, high, value] = [smaller, larger, quoted].map((member) => item[member]?.[name]);
      if (low === undefined || high === undefined || compareQuantities(low, high) <= 0) continue;
      const why = `${shown[smaller]} value ${low} is greater than ${word} value ${high}`;
      errors.invalid(`${field}.${blamed}[${name}]`, value, why);
    }
  }
}

const limitRangeRules = typedRules<Wire<V1LimitRange>>(
  {
    defaults: ({ spec }) => {
      for (const item of spec?.limits ?? []) {
        if (item.type !== 'Container') continue;
        const limits = { ...item.max, ...item.default };
        const requests = { ...item.min, ...limits, ...item.defaultRequest };
        if (Object.keys(limits).length > 0) item.default = limits;
        if (Object.keys(requests).length > 0) item.defaultRequest = requests;
      }
    },
    prepareForCreate: ({ metadata }, { random }) => {
      if (metadata !== undefined && (metadata.name ?? '') === '') metadata.name = random.uuid();
    },
    validate: validateLimits,
  },
  { createOnUpdate: true },
);

const amounts = ['cpu', 'memory', 'ephemeral-storage', 'storage'];
const quotaResources: ReadonlySet<string> = new Set([
  ...countedCollections,
  ...['services.nodeports', 'services.loadbalancers'],
  ...amounts,
  ...amounts.map((name) => `requests.${name}`),
  ...amounts.map((name) => `limits.${name}`),
]);

const scopes: ReadonlySet<string> = new Set([
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
]);

const computeResources: ReadonlySet<string> = new Set([
  ...['pods', 'cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'],
]);

/** Returns whether a scope can limit a resource. Unknown scopes limit every resource. */
function fits(scope: string, resource: string): boolean {
  switch (scope) {
    case 'BestEffort':
      // Such pods have no requests, so only their number counts.
      return resource === 'pods';
    case 'Terminating':
    case 'NotTerminating':
    case 'NotBestEffort':
    case 'PriorityClass':
    case 'CrossNamespacePodAffinity':
      return computeResources.has(resource);
    case 'VolumeAttributesClass':
      return resource === 'persistentvolumeclaims' || resource === 'requests.storage';
    default:
      return true;
  }
}

function validateQuota({ spec }: Wire<V1ResourceQuota>, errors: FieldErrors): void {
  const { hard = {}, scopes: given = [], scopeSelector } = spec ?? {};
  for (const [name, amount] of Object.entries(hard)) {
    const field = `spec.hard[${name}]`;
    const problems = qualifiedNameProblems(name);
    errors.invalidEach(field, name, problems);
    const known = quotaResources.has(name) || name.includes('/') || name.includes('.storageclass.');
    if (!known && problems.length === 0) {
      errors.invalid(field, name, 'must be a standard resource type or fully qualified');
      errors.invalid(field, name, 'must be a standard resource for quota');
    }
    if (compareQuantities(amount, 0) < 0) {
      errors.invalid(field, amount, 'must be greater than or equal to 0');
    }
  }
  const names = Object.keys(hard).filter((name) => quotaResources.has(name));
  for (const scope of given) {
    if (!scopes.has(scope)) errors.invalid('spec.scopes', given, 'unsupported scope');
    if (names.some((name) => !fits(scope, name))) {
      errors.invalid('spec.scopes', given, 'unsupported scope applied to resource');
    }
  }
  validateScopePairs(given, 'spec.scopes', errors);
  if (scopeSelector !== undefined) validateScopeSelector(scopeSelector, names, errors);
}

const exclusive = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

function validateScopePairs(given: readonly string[], field: string, errors: FieldErrors): void {
  for (const pair of exclusive) {
    if (!pair.every((scope) => given.includes(scope))) continue;
    errors.invalid(field, given, 'conflicting scopes');
  }
}

const presenceScopes: ReadonlySet<string> = new Set([
  ...['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'CrossNamespacePodAffinity'],
]);
const onlyPresence =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

/** Checks the selector of a quota's pods. The real server's paths have no index here. */
function validateScopeSelector(
  selector: Wire<V1ScopeSelector>,
  resources: readonly string[],
  errors: FieldErrors,
): void {
  const field = 'spec.scopeSelector.matchExpressions';
  const { matchExpressions = [] } = selector;
  for (const { scopeName, operator, values = [] } of matchExpressions) {
    if (!scopes.has(scopeName))
      errors.invalid(`${field}.scopeName`, scopeName, 'unsupported scope');
    if (resources.some((name) => !fits(scopeName, name))) {
      errors.invalid(field, selector, 'unsupported scope applied to resource');
    }
    if (presenceScopes.has(scopeName) && operator !== 'Exists') {
      errors.invalid(`${field}.operator`, operator, onlyPresence);
    }
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length > 0) continue;
      const why =
        "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      errors.required(`${field}.values`, why);
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length === 0) continue;
      const why =
        "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      errors.invalid(`${field}.values`, values, why);
    } else errors.invalid(`${field}.operator`, operator, 'not a valid selector operator');
  }
  validateScopePairs(
    matchExpressions.map(({ scopeName }) => scopeName),
    field,
    errors,
  );
}

/** The rules of LimitRanges and ResourceQuotas. */
export const limitRules: Readonly<Record<string, KindRules>> = {
  '/v1/LimitRange': limitRangeRules,
  '/v1/ResourceQuota': typedRules<Wire<V1ResourceQuota>>(
    { validate: validateQuota },
    { answersDeleted: true },
  ),
};

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
  // The names of claims are not compared: only a pod without claims is an error here.
  if (noClaims) validateNoClaims(resources?.claims ?? [], `${field}.claims`, errors);
}

/** Reports the names of claims in a pod without claims. */
export function validateNoClaims(
  claims: readonly { readonly name: string }[],
  field: string,
  errors: FieldErrors,
): void {
  for (const [index, { name }] of claims.entries()) {
    const why = 'must be one of the names in pod.spec.resourceClaims which is empty';
    errors.notFound(`${field}[${index}]`, name, why);
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
  errors.invalidEach(path, name, problems);
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
