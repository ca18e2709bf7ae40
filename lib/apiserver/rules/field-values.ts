import { isIP } from 'node:net';
import type { FieldErrors } from '../../crd/internal.js';
import { portNameProblems } from '../../object/index.js';

export function validateNonnegative(value: number | undefined, errors: FieldErrors): void {
  if ((value ?? 0) < 0) errors.invalid('', value, 'must be greater than or equal to 0');
}

/** Checks an `imagePullPolicy`; an empty one counts as missing. */
export function validatePullPolicy(policy: string, errors: FieldErrors): void {
  errors.oneOf('', policy, ['Always', 'IfNotPresent', 'Never']);
}

/** Checks a `preemptionPolicy`. */
export function validatePreemption(policy: string, errors: FieldErrors): void {
  errors.requiredOneOf('', policy, ['PreemptLowerPriority', 'Never']);
}

/** Checks that a port is between 1 and 65535. */
export function validatePortNumber(value: number, errors: FieldErrors): void {
  validateRange(value, [1, 65_535], errors);
}

/** Checks the port in the Service reference of a webhook or an APIService. */
export function validateServicePort(port: number, errors: FieldErrors): void {
  if (port >= 1 && port <= 65_535) return;
  errors.invalid('', port, 'port is not valid: must be between 1 and 65535, inclusive');
}

/** Checks that a number is not outside of two limits. */
export function validateRange(
  value: number,
  [least, most]: readonly [number, number],
  errors: FieldErrors,
): void {
  if (value >= least && value <= most) return;
  errors.invalid('', value, `must be between ${least} and ${most}, inclusive`);
}

/** The largest integer of 32 bits. */
export const largestInt32 = 2 ** 31 - 1;

export function validatePort(port: number | string, errors: FieldErrors): void {
  if (typeof port === 'number') validatePortNumber(port, errors);
  else errors.invalidEach('', port, portNameProblems(port));
}

/** Checks a count, or a percentage such as `25%`. */
export function validateIntOrPercent(value: number | string, errors: FieldErrors): void {
  if (typeof value === 'number') validateNonnegative(value, errors);
  else if (!/^[0-9]+%$/.test(value)) {
    const example = "a valid percent string must be a numeric string followed by an ending '%'";
    const regex = "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
    errors.invalid('', value, `${example} ${regex}`);
  }
}

/** Returns the number of a percentage or a count; 0 if the text is invalid. */
export function intOrPercentNumber(value: number | string): number {
  if (typeof value === 'number') return value;
  return /^[0-9]+%?$/.test(value) ? Number(value.replace('%', '')) : 0;
}

export function validateAtMost100Percent(value: number | string, errors: FieldErrors): void {
  if (typeof value === 'string' && value.endsWith('%') && intOrPercentNumber(value) > 100) {
    errors.invalid('', value, 'must not be greater than 100%');
  }
}

const address = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const range = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

/** Checks an IP address. @returns whether it is valid */
export function validateIp(ip: string, errors: FieldErrors): boolean {
  if (!isAddress(withoutZeros(ip))) errors.invalid('', ip, address);
  else if (!isAddress(ip)) errors.invalid('', ip, 'must not have leading 0s');
  else if (isMapped(ip)) errors.invalid('', ip, 'must not be an IPv4-mapped IPv6 address');
  else return true;
  return false;
}

/** Returns whether a string is an address, without a zone. */
function isAddress(ip: string): boolean {
  return isIP(ip) !== 0 && !ip.includes('%');
}

/** Drops the leading zeros of the numbers of an address, which some programs read as octal. */
function withoutZeros(ip: string): string {
  return ip.replaceAll(/(?<![\da-f])0+(?=[\da-f])/gi, '');
}

/** Returns an IPv6 address in its shortest form. */
function shortened(ip: string): string {
  return new URL(`http://[${ip}]`).hostname.slice(1, -1);
}

/** Returns whether an address is an IPv4 address in the notation of IPv6, in any spelling. */
function isMapped(ip: string): boolean {
  return isIP(ip) === 6 && /^::ffff:[\da-f]{1,4}:[\da-f]{1,4}$/.test(shortened(ip));
}

/** Checks an address of an endpoint, which clients must be able to reach. @returns whether it is an address */
export function validateEndpointIp(ip: string, errors: FieldErrors): boolean {
  if (!validateIp(ip, errors)) return false;
  if (ip === '0.0.0.0' || ip === '::') errors.invalid('', ip, `may not be unspecified (${ip})`);
  if (ip.startsWith('127.') || ip === '::1') {
    errors.invalid('', ip, 'may not be in the loopback range (127.0.0.0/8, ::1/128)');
  }
  if (ip.startsWith('169.254.') || /^fe[89ab]/i.test(ip)) {
    errors.invalid('', ip, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  }
  if (ip.startsWith('224.0.0.') || /^ff02:/i.test(ip)) {
    const why = 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)';
    errors.invalid('', ip, why);
  }
  return true;
}

/** Checks a range of addresses. @returns whether it is valid */
export function validateCidr(cidr: string, errors: FieldErrors): boolean {
  const problem = cidrProblem(cidr);
  if (problem !== undefined) errors.invalid('', cidr, problem);
  return problem === undefined;
}

function cidrProblem(cidr: string): string | undefined {
  const [ip = '', bits = '', ...rest] = cidr.split('/');
  const plain = withoutZeros(ip);
  const limit = isIP(plain) === 6 ? 128 : 32;
  if (rest.length > 0 || !isAddress(plain) || !/^\d+$/.test(bits) || Number(bits) > limit) {
    return range;
  }
  if (!isAddress(ip) || /^0\d/.test(bits)) return 'must not have leading 0s in IP or prefix length';
  if (isMapped(ip)) return 'must not have an IPv4-mapped IPv6 address';
  const isNetwork = !bitsOf(`${ip}/128`).slice(bitsOf(cidr).length).includes('1');
  return isNetwork ? undefined : 'must not have bits set beyond the prefix length';
}

/** Checks the address ranges for the pods of a node: there is at most one of each IP family. */
export function validatePodCidrs(cidrs: readonly string[], errors: FieldErrors): void {
  for (const [index, cidr] of cidrs.entries()) validateCidr(cidr, errors.at(`[${index}]`));
  if (cidrs.length < 2) return;
  const unread = cidrs.findIndex((cidr) => !isReadableCidr(cidr));
  if (unread >= 0) {
    const why = `invalid CIDR[${unread}]: <nil> (invalid CIDR address: ${cidrs[unread]})`;
    errors.internal('', `invalid PodCIDRs. failed to check with dual stack with error:${why}`);
  }
  const families = new Set(cidrs.map(isIpv6));
  if (unread < 0 && cidrs.length === 2 && families.size === 2) return;
  errors.invalid('', cidrs, 'may specify no more than one CIDR for each IP family');
}

function isIpv6(cidr: string): boolean {
  const [ip = ''] = cidr.split('/');
  return isIP(ip) === 6 && !isMapped(ip);
}

/**
 * Returns whether Go can read a CIDR range, even if the validation refuses it for leading zeros or bits beyond the
 * prefix.
 */
export function isReadableCidr(cidr: string): boolean {
  return cidrProblem(cidr) !== range;
}

/** Returns whether a readable range lies within a larger range of the same family. */
export function isStrictSubset(inner: string, outer: string): boolean {
  const small = bitsOf(withoutZeros(inner));
  const large = bitsOf(withoutZeros(outer));
  return small.length > large.length && small.startsWith(large);
}

/** Returns the fixed bits of a range as a string of zeros and ones. */
function bitsOf(cidr: string): string {
  const [ip = '', bits = ''] = cidr.split('/');
  const text =
    isIP(ip) === 6
      ? bits128(shortened(ip))
      : ip
          .split('.')
          .map((part) => binary(part, 8))
          .join('');
  return (isIP(ip) === 6 ? '6' : '4') + text.slice(0, Number(bits));
}

function binary(part: string, length: number, radix = 10): string {
  return parseInt(part, radix).toString(2).padStart(length, '0');
}

function bits128(ip: string): string {
  const [head = '', tail] = ip.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const all = [...before, ...Array<string>(Math.max(0, zeros)).fill('0'), ...after];
  return all.map((group) => binary(group, 16, 16)).join('');
}
