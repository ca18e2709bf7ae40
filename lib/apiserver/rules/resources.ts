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
export function validateResourceName(name: string, field: string, errors: FieldErrors): void {
  const problems = qualifiedNameProblems(name);
  errors.invalidEach(field, name, problems);
  if (problems.length > 0 || name.includes('/') || isStandardResource(name)) return;
  errors.invalid(field, name, 'must be a standard resource type or fully qualified');
}

/** Checks the name of a resource of a quota. */
export function validateQuotaResource(name: string, field: string, errors: FieldErrors): void {
  validateResourceName(name, field, errors);
  if (name.includes('/') || (isStandardResource(name) && name !== 'storage')) return;
  errors.invalid(field, name, 'must be a standard resource for quota');
}

/** Checks the name of a resource that containers use. */
export function validateContainerResource(name: string, field: string, errors: FieldErrors): void {
  validateResourceName(name, field, errors);
  if (!name.includes('/')) {
    if (forContainers.includes(name) || name.startsWith(hugePages)) return;
    errors.invalid(field, name, 'must be a standard resource for containers');
  } else if (!isNative(name) && !isExtended(name)) {
    errors.invalid(field, name, "doesn't follow extended resource name standard");
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

/** Checks an amount of a resource: no negative one, whole units of what is counted. */
export function validateAmount(
  name: string,
  amount: string,
  { field, errors }: { readonly field: string; readonly errors: FieldErrors },
): void {
  if (compareQuantities(amount, 0) < 0) {
    errors.invalid(field, amount, 'must be greater than or equal to 0');
  }
  const isWhole = parseQuantity(amount).scale >= 0;
  if (!isWhole && (counted.has(name) || isExtended(name))) {
    errors.invalid(field, amount, 'must be an integer');
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
  field: string,
  { claims, errors }: { readonly claims: ReadonlySet<string>; readonly errors: FieldErrors },
): void {
  const checks = { claims, errors, validateName: validateContainerResource };
  validateRequirements(resources, field, checks);
}

interface RequirementChecks {
  /** The names of the pod's claims. */
  readonly claims: ReadonlySet<string>;
  readonly errors: FieldErrors;
  readonly validateName: (name: string, field: string, errors: FieldErrors) => void;
}

/** Checks requests and limits: known names, no negative amounts, no request larger than its limit. */
export function validateRequirements(
  resources: Wire<V1ResourceRequirements> | undefined,
  field: string,
  checks: RequirementChecks,
): void {
  const { claims, errors } = checks;
  const { limits = {}, requests = {} } = resources ?? {};
  for (const [name, amount] of Object.entries(limits)) {
    validateRequirement(name, amount, { ...checks, field: `${field}.limits[${name}]` });
  }
  for (const [name, amount] of Object.entries(requests)) {
    validateRequirement(name, amount, { ...checks, field: `${field}.requests[${name}]` });
    const limit = quantityOf(limits, name);
    const isFixed = !isNative(name) || name.startsWith(hugePages);
    if (limit === undefined) {
      if (isFixed) {
        const why = 'Limit must be set for non overcommitable resources';
        errors.required(`${field}.limits`, why);
      }
      continue;
    }
    const difference = compareQuantities(amount, limit);
    if (isFixed && difference !== 0) {
      errors.invalid(`${field}.requests`, amount, `must be equal to ${name} limit of ${limit}`);
    } else if (difference > 0) {
      const why = `must be less than or equal to ${name} limit of ${limit}`;
      errors.invalid(`${field}.requests`, amount, why);
    }
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  const isHuge = names.some((name) => name.startsWith(hugePages));
  if (isHuge && !names.includes('cpu') && !names.includes('memory')) {
    errors.forbidden(field, 'HugePages require cpu or memory');
  }
  validateUsedClaims(resources?.claims ?? [], claims, { field: `${field}.claims`, errors });
}

function validateRequirement(
  name: string,
  amount: string,
  { field, errors, validateName }: RequirementChecks & { readonly field: string },
): void {
  validateName(name, field, errors);
  validateAmount(name, amount, { field, errors });
  if (!name.startsWith(hugePages) || isWholePages(name.slice(hugePages.length), amount)) return;
  const why = `${canonicalQuantity(amount)} is not positive integer multiple of ${name}`;
  errors.invalid(field, amount, why);
}

/** Returns whether an amount is a multiple of the size of a page. */
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
