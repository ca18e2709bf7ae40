import type { V1ResourceRequirements } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import {
  canonicalQuantity,
  compareQuantities,
  parseQuantity,
  qualifiedNameProblems,
} from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { validateUsedClaims } from './pod-claims.js';

/** Resources of a quota that are the name of a collection and count its objects. */
export const countedCollections: ReadonlySet<string> = new Set([
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
]);

const forContainers = ['cpu', 'memory', 'ephemeral-storage'];
const counted: ReadonlySet<string> = new Set([
  ...countedCollections,
  ...['services.nodeports', 'services.loadbalancers'],
]);
const standard: ReadonlySet<string> = new Set([
  ...counted,
  ...forContainers.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
  ...['storage', 'requests.storage'],
]);
const hugePages = 'hugepages-';

/** Returns whether a resource has a name that the API defines. */
export function isStandardResource(name: string): boolean {
  return standard.has(name) || /^(requests\.)?hugepages-/.test(name);
}

/** Checks the name of a resource: qualified, or standard. */
export function validateResourceName(name: string, errors: FieldErrors): void {
  const problems = qualifiedNameProblems(name);
  errors.invalidEach('', name, problems);
  if (problems.length > 0 || name.includes('/') || isStandardResource(name)) return;
  errors.invalid('', name, 'must be a standard resource type or fully qualified');
}

export function validateQuotaResource(name: string, errors: FieldErrors): void {
  validateResourceName(name, errors);
  if (name.includes('/') || (isStandardResource(name) && name !== 'storage')) return;
  errors.invalid('', name, 'must be a standard resource for quota');
}

export function validateContainerResource(name: string, errors: FieldErrors): void {
  validateResourceName(name, errors);
  if (!name.includes('/')) {
    if (forContainers.includes(name) || name.startsWith(hugePages)) return;
    errors.invalid('', name, 'must be a standard resource for containers');
  } else if (!isNative(name) && !isExtended(name)) {
    errors.invalid('', name, "doesn't follow extended resource name standard");
  }
}

function isNative(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

/** Returns whether a resource belongs to a device plugin or another extension of nodes. */
function isExtended(name: string): boolean {
  if (isNative(name) || name.startsWith('requests.')) return false;
  return qualifiedNameProblems(`requests.${name}`).length === 0;
}

/** Checks an amount of a resource: it must not be negative, and must be whole if the resource is counted. */
export function validateAmount(name: string, amount: string, errors: FieldErrors): void {
  if (compareQuantities(amount, 0) < 0) {
    errors.invalid('', amount, 'must be greater than or equal to 0');
  }
  const isWhole = parseQuantity(amount).scale >= 0;
  if (!isWhole && (counted.has(name) || isExtended(name))) {
    errors.invalid('', amount, 'must be an integer');
  }
}

/** Returns the quantity of a resource, whose name can be any string, such as `constructor`. */
export function quantityOf(
  quantities: Readonly<Record<string, string>> | undefined,
  name: string,
): string | undefined {
  return quantities !== undefined && Object.hasOwn(quantities, name) ? quantities[name] : undefined;
}

/** Checks the requests and limits of a container. */
export function validateResources(
  resources: Wire<V1ResourceRequirements> | undefined,
  claims: ReadonlySet<string>,
  errors: FieldErrors,
): void {
  validateRequirements(resources, { claims, validateName: validateContainerResource }, errors);
}

interface RequirementChecks {
  /** The names of the pod's claims. */
  readonly claims: ReadonlySet<string>;
  readonly validateName: (name: string, errors: FieldErrors) => void;
}

/** Checks requests and limits: known names, no negative amounts, no request larger than its limit. */
export function validateRequirements(
  resources: Wire<V1ResourceRequirements> | undefined,
  { claims, validateName }: RequirementChecks,
  errors: FieldErrors,
): void {
  const { limits = {}, requests = {} } = resources ?? {};
  for (const [name, amount] of Object.entries(limits)) {
    validateName(name, errors.at(`limits[${name}]`));
    validateRequirement(name, amount, errors.at(`limits[${name}]`));
  }
  for (const [name, amount] of Object.entries(requests)) {
    validateName(name, errors.at(`requests[${name}]`));
    validateRequirement(name, amount, errors.at(`requests[${name}]`));
    const limit = quantityOf(limits, name);
    const isFixed = !isNative(name) || name.startsWith(hugePages);
    if (limit === undefined) {
      if (isFixed) errors.required('limits', 'Limit must be set for non overcommitable resources');
      continue;
    }
    const difference = compareQuantities(amount, limit);
    if (isFixed && difference !== 0) {
      errors.invalid('requests', amount, `must be equal to ${name} limit of ${limit}`);
    } else if (difference > 0) {
      errors.invalid('requests', amount, `must be less than or equal to ${name} limit of ${limit}`);
    }
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  const isHuge = names.some((name) => name.startsWith(hugePages));
  if (isHuge && !names.includes('cpu') && !names.includes('memory')) {
    errors.forbidden('', 'HugePages require cpu or memory');
  }
  validateUsedClaims(resources?.claims ?? [], claims, errors.at('claims'));
}

function validateRequirement(name: string, amount: string, errors: FieldErrors): void {
  validateAmount(name, amount, errors);
  if (!name.startsWith(hugePages) || isWholePages(name.slice(hugePages.length), amount)) return;
  const why = `${canonicalQuantity(amount)} is not positive integer multiple of ${name}`;
  errors.invalid('', amount, why);
}

function isWholePages(size: string, amount: string): boolean {
  try {
    const page = billionths(size);
    return page > 0n && billionths(amount) % page === 0n;
  } catch {
    return false;
  }
}

function billionths(amount: string): bigint {
  const { unscaled, scale } = parseQuantity(amount);
  return unscaled * 10n ** BigInt(scale + 9);
}

/** Returns an amount as a number, for ratios. */
export function quantityNumber(value: string | number): number {
  const { unscaled, scale } = parseQuantity(value);
  return Number(unscaled) * 10 ** scale;
}
