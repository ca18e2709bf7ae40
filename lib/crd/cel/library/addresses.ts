import { declare } from '../overload.js';
import type { Declaration } from '../overload.js';
import { CelError, CelOpaque } from '../values.js';

/** An IP address. */
interface Address {
  readonly family: 4 | 6;
  /** 32 or 128 bits. */
  readonly bits: bigint;
  readonly zone: string;
  /** An IPv4 address in IPv6 notation. */
  readonly mapped: boolean;
}

interface Network {
  readonly address: Address;
  readonly length: number;
}

type Ip = CelOpaque<Address>;
type Cidr = CelOpaque<Network>;

const width = (family: 4 | 6): number => (family === 4 ? 32 : 128);

function parseIpv4(text: string): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  if (!parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) {
    return undefined;
  }
  return parts.reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

function parseIpv6(text: string): Address | undefined {
  const [body = '', ...zones] = text.split('%');
  const zone = zones.join('%');
  if (text.includes('%') && zone === '') return undefined;
  const halves = body.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half) => (half === '' ? [] : groupsOf(half.split(':'))));
  if (head === undefined) return undefined;
  const count = head.length + (tail?.length ?? 0);
  if (tail === undefined ? count !== 8 : count > 7) return undefined;
  const groups = [...head, ...Array<number>(8 - count).fill(0), ...(tail ?? [])];
  if (groups.some((group) => Number.isNaN(group))) return undefined;
  const bits = groups.reduce((all, group) => (all << 16n) | BigInt(group), 0n);
  return { family: 6, bits, zone, mapped: bits >> 32n === 0xffffn };
}

/** Returns NaN for invalid groups. */
function groupsOf(parts: readonly string[]): number[] {
  return parts.flatMap((part, index) => {
    if (index === parts.length - 1 && part.includes('.')) {
      const bits = parseIpv4(part);
      return bits === undefined ? [NaN] : [Number(bits >> 16n), Number(bits & 0xffffn)];
    }
    return /^[0-9a-fA-F]{1,4}$/.test(part) ? [parseInt(part, 16)] : [NaN];
  });
}

function parseAddress(text: string): Address | undefined {
  if (text.includes(':')) return parseIpv6(text);
  const bits = parseIpv4(text);
  return bits === undefined ? undefined : { family: 4, bits, zone: '', mapped: false };
}

/** Returns the problem of an address; undefined if valid. */
function addressProblem(text: string, address: Address | undefined): string | undefined {
  const quoted = JSON.stringify(text);
  if (address === undefined) {
    return `IP Address ${quoted} parse error during conversion from string: ParseAddr(${quoted}): ${parseProblem(text)}`;
  }
  if (address.zone !== '') return `IP address ${quoted} with zone value is not allowed`;
  if (address.mapped) return `IPv4-mapped IPv6 address ${quoted} is not allowed`;
  return undefined;
}

/** Returns Go's message for the problem. */
function parseProblem(text: string): string {
  const [sign] = /[.:%]/.exec(text) ?? [];
  if (sign === undefined) return 'unable to parse IP';
  if (sign === '%') return 'missing IPv6 address';
  return sign === '.' ? ipv4Problem(text) : 'unable to parse IP';
}

function ipv4Problem(text: string): string {
  const odd = /[^0-9.]/.exec(text);
  const parts = text.slice(0, odd?.index).split('.');
  for (const [index, part] of parts.entries()) {
    if (part.length > 1 && part.startsWith('0')) return 'IPv4 field has octet with leading zero';
    if (Number(part) > 255) return 'IPv4 field has value >255';
    if (part === '' && odd === null) {
      const from = parts.slice(0, index).join('.').length;
      const rest = text.slice(index === parts.length - 1 ? from : from + (index === 0 ? 0 : 1));
      return `IPv4 field must have at least one digit (at ${JSON.stringify(rest)})`;
    }
    if (index === 4) return 'IPv4 address too long';
  }
  if (odd !== null) return `unexpected character (at ${JSON.stringify(text.slice(odd.index))})`;
  return 'IPv4 address too short';
}

function addressText({ family, bits }: Address): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 255n).join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((bits >> BigInt(16 * (7 - index))) & 0xffffn).toString(16),
  );
  const zeros = [...groups.join(':').matchAll(/(?<![^:])0(?::0)+(?![^:])/g)];
  const longest = zeros.toSorted(([one], [other]) => other.length - one.length)[0];
  if (longest === undefined) return groups.join(':');
  const text = groups.join(':');
  const before = text.slice(0, longest.index).replace(/:$/, '');
  const after = text.slice(longest.index + longest[0].length).replace(/^:/, '');
  return `${before}::${after}`;
}

const ip = (address: Address): Ip =>
  new CelOpaque('net.IP', address, (value) => {
    return value.family === address.family && value.bits === address.bits;
  });

function ipOf(text: string): Ip {
  const address = parseAddress(text);
  const problem = addressProblem(text, address);
  if (problem !== undefined || address === undefined) throw new CelError(problem ?? '');
  return ip(address);
}

const isIp = (text: string): boolean => addressProblem(text, parseAddress(text)) === undefined;

function parseNetwork(text: string): Network | undefined {
  const slash = text.lastIndexOf('/');
  if (slash < 0) return undefined;
  const [address, bits] = [parseAddress(text.slice(0, slash)), text.slice(slash + 1)];
  if (address === undefined || address.zone !== '' || address.mapped) return undefined;
  if (!/^(?:0|[1-9]\d{0,2})$/.test(bits) || Number(bits) > width(address.family)) return undefined;
  return { address, length: Number(bits) };
}

const cidr = (network: Network): Cidr =>
  new CelOpaque('net.CIDR', network, ({ address, length }) => {
    const { bits, family } = network.address;
    return length === network.length && address.bits === bits && address.family === family;
  });

function cidrOf(text: string): Cidr {
  const network = parseNetwork(text);
  if (network !== undefined) return cidr(network);
  const said = 'network address parse error during conversion from string';
  const quoted = JSON.stringify(text);
  throw new CelError(`${said}: ${said}: netip.ParsePrefix(${quoted}): ${networkProblem(text)}`);
}

/** Returns Go's message for the problem. */
function networkProblem(text: string): string {
  const slash = text.lastIndexOf('/');
  if (slash < 0) return "no '/'";
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)];
  const parsed = parseAddress(address);
  if (parsed === undefined)
    return `ParseAddr(${JSON.stringify(address)}): ${parseProblem(address)}`;
  if (parsed.zone !== '') return 'IPv6 zones cannot be present in a prefix';
  if (!/^(?:0|[1-9]\d*)$/.test(bits)) return `bad bits after slash: ${JSON.stringify(bits)}`;
  return 'prefix length out of range';
}

function masked({ address, length }: Network): bigint {
  const shift = BigInt(width(address.family) - length);
  return (address.bits >> shift) << shift;
}

function containsIp(network: Network, address: Address): boolean {
  if (network.address.family !== address.family) return false;
  return masked({ address, length: network.length }) === masked(network);
}

function containsCidr(outer: Network, inner: Network): boolean {
  return (
    outer.length <= inner.length && containsIp(outer, { ...inner.address, bits: masked(inner) })
  );
}

const starts = ({ bits, family }: Address, prefix: bigint, length: number): boolean =>
  bits >> BigInt(width(family) - length) === prefix;

const isLoopback = (address: Address): boolean =>
  address.family === 4 ? starts(address, 127n, 8) : address.bits === 1n;
const isLinkLocalUnicast = (address: Address): boolean =>
  address.family === 4 ? starts(address, 0xa9fen, 16) : starts(address, 0x3fan, 10);
const isLinkLocalMulticast = (address: Address): boolean =>
  address.family === 4
    ? starts(address, 0xe00000n, 24)
    : starts(address, 0xffn, 8) && ((address.bits >> 112n) & 15n) === 2n;
const isMulticast = (address: Address): boolean =>
  address.family === 4 ? starts(address, 14n, 4) : starts(address, 0xffn, 8);

function isGlobalUnicast(address: Address): boolean {
  if (address.family === 4 && (address.bits === 0n || address.bits === 0xffffffffn)) return false;
  if (address.bits === 0n || isLoopback(address) || isMulticast(address)) return false;
  return !isLinkLocalUnicast(address);
}

/** Kubernetes' functions on IP addresses and networks. */
export const addressFunctions: readonly Declaration[] = [
  declare('ip(string): IP', ipOf),
  declare('isIP(string): bool', isIp),
  declare(
    'ip::isCanonical(string): bool',
    (text: string) => addressText(ipOf(text).value) === text,
  ),
  declare('string(IP): string', ({ value }: Ip) => addressText(value)),
  declare('IP.family(): int', ({ value }: Ip) => BigInt(value.family)),
  declare('IP.isUnspecified(): bool', ({ value }: Ip) => value.bits === 0n),
  declare('IP.isLoopback(): bool', ({ value }: Ip) => isLoopback(value)),
  declare('IP.isLinkLocalMulticast(): bool', ({ value }: Ip) => isLinkLocalMulticast(value)),
  declare('IP.isLinkLocalUnicast(): bool', ({ value }: Ip) => isLinkLocalUnicast(value)),
  declare('IP.isGlobalUnicast(): bool', ({ value }: Ip) => isGlobalUnicast(value)),
  declare('cidr(string): CIDR', cidrOf),
  declare('isCIDR(string): bool', (text: string) => parseNetwork(text) !== undefined),
  declare('string(CIDR): string', ({ value }: Cidr) => {
    return `${addressText(value.address)}/${value.length}`;
  }),
  declare('CIDR.containsIP(string): bool', ({ value }: Cidr, text: string) => {
    // The API server does not report the actual problem.
    if (!isIp(text)) throw new CelError('no such overload');
    return containsIp(value, ipOf(text).value);
  }),
  declare('CIDR.containsIP(IP): bool', ({ value }: Cidr, address: Ip) =>
    containsIp(value, address.value),
  ),
  declare('CIDR.containsCIDR(string): bool', ({ value }: Cidr, text: string) =>
    containsCidr(value, cidrOf(text).value),
  ),
  declare('CIDR.containsCIDR(CIDR): bool', ({ value }: Cidr, inner: Cidr) =>
    containsCidr(value, inner.value),
  ),
  declare('CIDR.ip(): IP', ({ value }: Cidr) => ip(value.address)),
  declare('CIDR.prefixLength(): int', ({ value }: Cidr) => BigInt(value.length)),
  declare('CIDR.masked(): CIDR', ({ value }: Cidr) =>
    cidr({ ...value, address: { ...value.address, bits: masked(value) } }),
  ),
];
