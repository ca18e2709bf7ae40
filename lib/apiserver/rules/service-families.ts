import { isIP } from 'node:net';
import type { V1ServiceSpec } from '@kubernetes/client-node';
import { FieldErrors } from '../../crd/internal.js';
import { deepEqual } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { invalid } from '../status-error.js';
import { validateIp } from './field-values.js';

type ServiceSpec = Wire<V1ServiceSpec>;

/** Collects the errors of one step of the allocation. The real server stops at the first step with errors. */
export class ServiceErrors extends FieldErrors {
  readonly #name: string;

  constructor(name: string) {
    super();
    this.#name = name;
  }

  /** @throws StatusError 422: there are errors */
  refuse(): void {
    if (!this.empty) throw invalid({ group: '', kind: 'Service', name: this.#name }, this.causes);
  }
}

/** Names of fields in errors. */
const ips = 'spec.clusterIPs';
const policyField = 'spec.ipFamilyPolicy';

/**
 * Fills in the IP families and their policy, and checks them with the cluster IPs. The cluster has IPv4 only.
 * @param old - undefined for a new service
 * @throws StatusError 422: the fields do not match
 */
export function fillFamilies(
  spec: ServiceSpec,
  old: ServiceSpec | undefined,
  errors: ServiceErrors,
): void {
  if (spec.type === 'ExternalName' || isSamePreference(spec, old)) return;
  const isBare = spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (isBare ? 'RequireDualStack' : 'SingleStack');
  validateClusterIps(spec, errors);
  errors.refuse();
  if (old !== undefined) releaseFamilies(spec, old, errors);
  matchPolicy(spec, errors);
  inferFamilies(spec, errors);
  errors.refuse();
  if (isBare) {
    // A headless Service without a selector: its endpoints lie outside the cluster.
    addFamily(spec);
    return;
  }
  checkCluster(spec, errors);
  errors.refuse();
  if ((spec.ipFamilies ?? []).length === 0) spec.ipFamilies = ['IPv4'];
}

/** Returns whether an update keeps the preference for two IP families. The addresses then stay as they are. */
function isSamePreference(spec: ServiceSpec, old: ServiceSpec | undefined): boolean {
  const preferred = 'PreferDualStack';
  return (
    spec.type === old?.type &&
    spec.ipFamilyPolicy === preferred &&
    (old?.ipFamilyPolicy ?? preferred) === preferred &&
    deepEqual(spec.clusterIPs ?? [], old?.clusterIPs ?? []) &&
    deepEqual(spec.ipFamilies ?? [], old?.ipFamilies ?? [])
  );
}

/**
 * Removes the secondary IP family if an update sets `ipFamilyPolicy` to `SingleStack` and leaves `ipFamilies` as they
 * were. With another policy, an update with fewer `ipFamilies` than before is invalid.
 */
function releaseFamilies(spec: ServiceSpec, old: ServiceSpec, errors: FieldErrors): void {
  const { ipFamilies = [], ipFamilyPolicy } = spec;
  const before = old.ipFamilies ?? [];
  if (ipFamilyPolicy === 'SingleStack') {
    if (deepEqual(ipFamilies, before)) spec.ipFamilies = ipFamilies.slice(0, 1);
  } else if (ipFamilies.length > 0 && ipFamilies.length < before.length) {
    const why = "must be 'SingleStack' to release the secondary IP family";
    errors.invalid(policyField, ipFamilyPolicy, why);
  }
}

function matchPolicy(spec: ServiceSpec, errors: FieldErrors): void {
  const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  if (ipFamilyPolicy !== 'SingleStack') return;
  const why = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
  if (clusterIPs.length === 2) {
    errors.invalid(policyField, ipFamilyPolicy, `${why} cluster IPs are specified`);
  }
  if (ipFamilies.length === 2) {
    errors.invalid(policyField, ipFamilyPolicy, `${why} IP families are specified`);
  }
}

/** Adds the families of the cluster IPs. */
function inferFamilies(spec: ServiceSpec, errors: FieldErrors): void {
  const { clusterIPs = [], ipFamilies = [] } = spec;
  if (clusterIPs[0] === 'None') return;
  const families = [...ipFamilies];
  for (const [index, ip] of clusterIPs.entries()) {
    if (index < ipFamilies.length) continue;
    if (isIP(ip) === 4) families.push('IPv4');
    else errors.invalid(`${ips}[${index}]`, clusterIPs, 'IPv6 is not configured on this cluster');
  }
  if (families.length > 0) spec.ipFamilies = families;
}

function addFamily(spec: ServiceSpec): void {
  const { ipFamilies = [], ipFamilyPolicy } = spec;
  const [first = 'IPv4', second] = ipFamilies;
  const isOne = second === undefined && ipFamilyPolicy === 'SingleStack';
  spec.ipFamilies = isOne ? [first] : [first, second ?? (first === 'IPv4' ? 'IPv6' : 'IPv4')];
}

function checkCluster({ ipFamilies = [], ipFamilyPolicy }: ServiceSpec, errors: FieldErrors): void {
  if (ipFamilyPolicy === 'RequireDualStack') {
    const why = 'this cluster is not configured for dual-stack services';
    errors.invalid(policyField, ipFamilyPolicy, why);
  }
  errors.each('spec.ipFamilies', ipFamilies, (family, errors) => {
    if (family === 'IPv4') return;
    errors.invalid('', family, 'not configured on this cluster');
  });
}

const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

function validateClusterIps(spec: ServiceSpec, errors: FieldErrors): void {
  const { clusterIP = '', clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  if (clusterIP !== '' && clusterIPs[0] !== clusterIP) {
    errors.invalid(ips, clusterIPs, 'first value must match `clusterIP`');
  }
  if (clusterIP === '' && clusterIPs.length > 0) {
    errors.invalid(ips, clusterIPs, 'must be empty when `clusterIP` is not specified');
  }
  for (const [index, family] of ipFamilies.entries()) {
    const field = `spec.ipFamilies[${index}]`;
    errors.oneOf(field, family, ['IPv4', 'IPv6']);
    if (ipFamilies.indexOf(family) < index) errors.duplicate(field, family);
  }
  errors.oneOf(policyField, ipFamilyPolicy, policies);
  const areValid = validateEachIp(clusterIPs, errors);
  if (clusterIPs.length > 2) errors.invalid(ips, clusterIPs, 'may only hold up to 2 values');
  if (areValid) validateIpFamilies(spec, errors);
}

function validateEachIp(clusterIPs: readonly string[], errors: FieldErrors): boolean {
  let areValid = true;
  for (const [index, ip] of clusterIPs.entries()) {
    if (index > 0 || ip !== 'None') {
      areValid = validateIp(ip, errors.at(`${ips}[${index}]`)) && areValid;
    } else if (clusterIPs.length > 1) {
      errors.invalid(ips, clusterIPs, "'None' must be the first and only value");
      areValid = false;
    }
  }
  return areValid;
}

function validateIpFamilies(
  { clusterIPs = [], ipFamilies = [] }: ServiceSpec,
  errors: FieldErrors,
): void {
  const versions = clusterIPs.map((ip) => isIP(ip));
  if (clusterIPs.length > 1 && !(versions.includes(4) && versions.includes(6))) {
    errors.invalid(ips, clusterIPs, 'may specify no more than one IP for each IP family');
  }
  if (clusterIPs[0] === 'None') return;
  for (const [index, ip] of clusterIPs.entries()) {
    const { [index]: family } = ipFamilies;
    if (!(family === 'IPv4' || family === 'IPv6') || family === `IPv${isIP(ip)}`) continue;
    const why = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
    errors.invalid(`${ips}[${index}]`, ip, why);
  }
}
