import type {
  V1LimitRange,
  V1LimitRangeItem,
  V1ResourceQuota,
  V1ScopeSelector,
} from '@kubernetes/client-node';
import pick from 'lodash/pick.js';
import xor from 'lodash/xor.js';
import type { FieldErrors } from '../../crd/internal.js';
import { canonicalQuantity, compareQuantities, qualifiedNameProblems } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { hadEmptyMember } from '../go-json/go-types.js';
import { typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';
import {
  isStandardResource,
  quantityNumber,
  quantityOf,
  validateAmount,
  validateContainerResource,
  validateQuotaResource,
  validateResourceName,
} from './resources.js';

type Item = Wire<V1LimitRangeItem>;

const itemTypes = ['Pod', 'Container', 'PersistentVolumeClaim'];

function validateLimits({ spec }: Wire<V1LimitRange>, errors: FieldErrors): void {
  const limits = (spec?.limits as Item[] | null) ?? [];
  const types = new Set<string>();
  errors.each('spec.limits', limits, (item, errors) => {
    const { type, min, max } = item;
    const problems = qualifiedNameProblems(type);
    errors.invalidEach('type', type, problems);
    if (problems.length === 0 && !itemTypes.includes(type) && !type.includes('/')) {
      errors.invalid('type', type, 'must be a standard limit type or fully qualified');
    }
    errors.unique('type', type, types);
    for (const member of type === 'Pod' ? (['default', 'defaultRequest'] as const) : []) {
      if (item[member] === undefined) continue;
      errors.forbidden(member, "may not be specified when `type` is 'Pod'");
    }
    if (type === 'PersistentVolumeClaim') {
      if (min?.['storage'] === undefined && max?.['storage'] === undefined) {
        const why = 'either minimum or maximum storage value is required, but neither was provided';
        errors.required('limits', why);
      }
    }
    validateNames(item, errors);
    validateOrder(type === 'Pod' ? pick(item, 'type', 'min', 'max') : item, errors);
    validateRatios(item, errors);
  });
}

function validateNames(item: Item, errors: FieldErrors): void {
  const { type } = item;
  const isPod = type === 'Pod';
  const check = isPod || type === 'Container' ? validateContainerResource : validateResourceName;
  const bounds = ['min', 'max', 'maxLimitRequestRatio'] as const;
  for (const member of isPod ? bounds : ([...bounds, 'default', 'defaultRequest'] as const)) {
    for (const name of Object.keys(item[member] ?? {})) {
      check(name, errors.at(`${member}[${name}]`));
    }
  }
}

/**
 * Pairs of bounds, of which the first must not exceed the second. Each entry has: the bound in the path of the error,
 * the smaller bound, the larger bound, the name of the larger bound in the message, and the bound whose value the error
 * shows.
 */
const ordered = [
  ['min', 'min', 'max', 'max', 'min'],
  ['defaultRequest', 'min', 'defaultRequest', 'default request', 'defaultRequest'],
  ['defaultRequest', 'defaultRequest', 'max', 'max', 'defaultRequest'],
  ['defaultRequest', 'defaultRequest', 'default', 'default limit', 'defaultRequest'],
  // For these two pairs, the real server shows the value of `min` or `max`, not the one of `default`.
  ['default', 'min', 'default', 'default', 'min'],
  ['default', 'default', 'max', 'max', 'max'],
] as const;

const shown = {
  min: 'min',
  max: 'max',
  default: 'default',
  defaultRequest: 'default request',
} as const;

/** Checks that smaller bounds do not exceed larger ones. */
function validateOrder(item: Item, errors: FieldErrors): void {
  const names = new Set(
    [item.min, item.max, item.default, item.defaultRequest].flatMap((list) =>
      Object.keys(list ?? {}),
    ),
  );
  for (const name of names) {
    for (const [blamed, smaller, larger, word, quoted] of ordered) {
      const [low, high, value] = [smaller, larger, quoted].map((member) =>
        quantityOf(item[member], name),
      );
      if (low === undefined || high === undefined || compareQuantities(low, high) <= 0) continue;
      const why = `${shown[smaller]} value ${low} is greater than ${word} value ${high}`;
      errors.invalid(`${blamed}[${name}]`, value, why);
    }
  }
}

/** Checks the ratios of `maxLimitRequestRatio`: each is at least 1, and at most `max` divided by `min`. */
function validateRatios({ min, max, maxLimitRequestRatio = {} }: Item, errors: FieldErrors): void {
  for (const [name, ratio] of Object.entries(maxLimitRequestRatio)) {
    const path = `maxLimitRequestRatio[${name}]`;
    const shown = canonicalQuantity(ratio);
    if (compareQuantities(ratio, 1) < 0)
      errors.invalid(path, ratio, `ratio ${shown} is less than 1`);
    const [low, high] = [quantityOf(min, name), quantityOf(max, name)];
    if (low === undefined || high === undefined) continue;
    const most = quantityNumber(high) / quantityNumber(low);
    if (quantityNumber(ratio) > most)
      errors.invalid(path, ratio, `ratio ${shown} is greater than max/min = ${most.toFixed(6)}`);
  }
}

const limitRangeRules = typedRules<Wire<V1LimitRange>>({
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
    if ((metadata.name ?? '') === '') metadata.name = random.uuid();
  },
  validate: validateLimits,
  createOnUpdate: true,
});

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
  // Pods of this scope have no requests, so only their number counts.
  if (scope === 'BestEffort') return resource === 'pods';
  if (scope === 'VolumeAttributesClass') {
    return resource === 'persistentvolumeclaims' || resource === 'requests.storage';
  }
  return !scopes.has(scope) || computeResources.has(resource);
}

function validateQuota({ spec }: Wire<V1ResourceQuota>, errors: FieldErrors): void {
  const { hard = {}, scopes: given = [], scopeSelector } = spec ?? {};
  for (const [name, amount] of Object.entries(hard)) {
    const field = `spec.hard[${name}]`;
    validateQuotaResource(name, errors.at(field));
    validateAmount(name, amount, errors.at(field));
  }
  const names = Object.keys(hard).filter(isStandardResource);
  for (const scope of given) {
    if (!scopes.has(scope)) errors.invalid('spec.scopes', given, 'unsupported scope');
    if (names.some((name) => !fits(scope, name))) {
      errors.invalid('spec.scopes', given, 'unsupported scope applied to resource');
    }
  }
  validateScopePairs(given, given, errors.at('spec.scopes'));
  if (scopeSelector === undefined) return;
  validateScopeSelector(scopeSelector, names, errors);
  const selected = (scopeSelector.matchExpressions ?? []).map(({ scopeName }) => scopeName);
  // The real server shows the scopes outside of the selector.
  const shown = spec?.scopes ?? null;
  validateScopePairs(selected, shown, errors.at('spec.scopeSelector.matchExpressions'));
}

const exclusive = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

function validateScopePairs(
  given: readonly string[],
  shown: readonly string[] | null,
  errors: FieldErrors,
): void {
  for (const pair of exclusive) {
    if (!pair.every((scope) => given.includes(scope))) continue;
    errors.invalid('', shown, 'conflicting scopes');
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
}

export const limitRules: Readonly<Record<string, KindRules>> = {
  '/v1/LimitRange': limitRangeRules,
  '/v1/ResourceQuota': typedRules<Wire<V1ResourceQuota>>({
    validate: validateQuota,
    validateUpdate: ({ spec }, { spec: old }, errors) => {
      // The order of the scopes may change.
      if (xor(spec?.scopes, old?.scopes).length === 0) return;
      const isEmpty = spec !== undefined && hadEmptyMember(spec, 'scopes');
      errors.invalid('spec.scopes', isEmpty ? [] : spec?.scopes, 'field is immutable');
    },
    answersDeleted: true,
  }),
};
