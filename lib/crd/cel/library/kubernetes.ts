import {
  addQuantities,
  compareQuantities,
  generateNameProblems,
  label1035Problems,
  labelProblems,
  labelValueProblems,
  parseQuantity,
  qualifiedNameProblems,
  subdomainProblems,
  subtractQuantities,
} from '../../../object/index.js';
import type { NameFormat, Quantity } from '../../../object/index.js';
import { hasFormat } from '../../validation/schema-formats.js';
import { parseRequestUrl } from '../go-url.js';
import type { GoUrl } from '../go-url.js';
import { declare } from '../overload.js';
import type { Declaration } from '../overload.js';
import { CelDictionary, CelError, CelList, CelOpaque, CelOptional } from '../values.js';

type QuantityValue = CelOpaque<Quantity>;

const quantity = (amount: Quantity): QuantityValue =>
  new CelOpaque('kubernetes.Quantity', amount, (value) => compareQuantities(amount, value) === 0);

function readQuantity(text: string): Quantity | undefined {
  try {
    return parseQuantity(text);
  } catch {
    return undefined;
  }
}

function quantityOf(text: string): QuantityValue {
  const amount = readQuantity(text);
  if (amount !== undefined) return quantity(amount);
  throw new CelError(`quantities must match the regular expression ${quantityForm}`);
}

const quantityForm = "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Returns the quantity as a 64-bit integer; undefined if it does not fit or is not whole. */
function integerOf({ unscaled, scale }: Quantity): bigint | undefined {
  if (scale < 0) return undefined;
  const value = unscaled * 10n ** BigInt(scale);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

const wholeQuantity = (value: bigint): Quantity => parseQuantity(String(value));
const compare = ({ value: one }: QuantityValue, { value: other }: QuantityValue): number =>
  compareQuantities(one, other);

const quantityFunctions: readonly Declaration[] = [
  declare('quantity(string): Quantity', quantityOf),
  declare('isQuantity(string): bool', (text: string) => readQuantity(text) !== undefined),
  declare('sign(Quantity): int', ({ value }: QuantityValue) => {
    return value.unscaled === 0n ? 0n : value.unscaled < 0n ? -1n : 1n;
  }),
  declare('Quantity.isGreaterThan(Quantity): bool', (a: QuantityValue, b: QuantityValue) => {
    return compare(a, b) > 0;
  }),
  declare('Quantity.isLessThan(Quantity): bool', (a: QuantityValue, b: QuantityValue) => {
    return compare(a, b) < 0;
  }),
  declare('Quantity.compareTo(Quantity): int', (a: QuantityValue, b: QuantityValue) =>
    BigInt(Math.sign(compare(a, b))),
  ),
  declare('Quantity.asApproximateFloat(): double', ({ value }: QuantityValue) =>
    Number(`${value.unscaled}e${value.scale}`),
  ),
  declare('Quantity.asInteger(): int', ({ value }: QuantityValue) => {
    const whole = integerOf(value);
    if (whole === undefined) throw new CelError('cannot convert value to integer');
    return whole;
  }),
  declare('Quantity.isInteger(): bool', ({ value }: QuantityValue) => {
    return integerOf(value) !== undefined;
  }),
  declare('Quantity.add(Quantity): Quantity', (a: QuantityValue, b: QuantityValue) =>
    quantity(addQuantities(a.value, b.value)),
  ),
  declare('Quantity.add(int): Quantity', (a: QuantityValue, b: bigint) =>
    quantity(addQuantities(a.value, wholeQuantity(b))),
  ),
  declare('Quantity.sub(Quantity): Quantity', (a: QuantityValue, b: QuantityValue) =>
    quantity(subtractQuantities(a.value, b.value)),
  ),
  declare('Quantity.sub(int): Quantity', (a: QuantityValue, b: bigint) =>
    quantity(subtractQuantities(a.value, wholeQuantity(b))),
  ),
];

type UrlValue = CelOpaque<GoUrl>;

function urlOf(text: string): UrlValue {
  const url = parseRequestUrl(text);
  if (typeof url === 'string') {
    throw new CelError(`URL parse error during conversion from string: ${url}`);
  }
  return new CelOpaque('kubernetes.URL', url, (value) => value.text === url.text);
}

function queryOf({ query }: GoUrl): CelDictionary {
  const values = new Map<string, string[]>();
  // Go drops a pair with a semicolon or an invalid escape.
  const pairs = query.split('&').filter((pair) => !/;|%(?![0-9a-fA-F]{2})/.test(pair));
  for (const [name, value] of new URLSearchParams(pairs.join('&'))) {
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  const map = new CelDictionary();
  for (const [name, all] of values) map.insert(name, new CelList(all));
  return map;
}

const urlFunctions: readonly Declaration[] = [
  declare('url(string): URL', urlOf),
  declare('isURL(string): bool', (text: string) => typeof parseRequestUrl(text) !== 'string'),
  declare('URL.getScheme(): string', ({ value }: UrlValue) => value.scheme),
  declare('URL.getHost(): string', ({ value }: UrlValue) => value.host),
  declare('URL.getHostname(): string', ({ value }: UrlValue) => value.hostname),
  declare('URL.getPort(): string', ({ value }: UrlValue) => value.port),
  declare('URL.getEscapedPath(): string', ({ value }: UrlValue) => value.escapedPath),
  declare('URL.getQuery(): map<string,list<string>>', ({ value }: UrlValue) => queryOf(value)),
];

type FormatCheck = (text: string) => readonly string[];

const prefix =
  (format: NameFormat): FormatCheck =>
  (text) =>
    generateNameProblems(text, format);

const byFormat =
  (format: string, message: string): FormatCheck =>
  (text) =>
    hasFormat(text, format) ? [] : [message];

const formats: Readonly<Record<string, FormatCheck>> = {
  dns1123Label: labelProblems,
  dns1123Subdomain: subdomainProblems,
  dns1035Label: label1035Problems,
  qualifiedName: qualifiedNameProblems,
  dns1123LabelPrefix: prefix('label'),
  dns1123SubdomainPrefix: prefix('subdomain'),
  dns1035LabelPrefix: prefix('label1035'),
  labelValue: labelValueProblems,
  uri: (text) => {
    const url = parseRequestUrl(text);
    return typeof url === 'string' ? [url] : [];
  },
  uuid: byFormat('uuid', 'does not match the UUID format'),
  byte: byFormat('byte', 'invalid base64'),
  date: byFormat('date', 'invalid date'),
  datetime: byFormat('datetime', 'invalid datetime'),
};

type Format = CelOpaque<{ readonly name: string; readonly check: FormatCheck }>;

function formatOf(name: string): Format | undefined {
  const check = Object.hasOwn(formats, name) ? formats[name] : undefined;
  if (check === undefined) return undefined;
  return new CelOpaque('kubernetes.NamedFormat', { name, check }, (value) => value.name === name);
}

const formatFunctions: readonly Declaration[] = [
  ...Object.keys(formats).map((name) =>
    declare(`format::${name}(): NamedFormat`, () => formatOf(name) ?? null),
  ),
  declare(
    'format::named(string): optional<NamedFormat>',
    (name: string) => new CelOptional(formatOf(name)),
  ),
  declare(
    'NamedFormat.validate(string): optional<list<string>>',
    (format: Format, text: string) => {
      const problems = format.value.check(text);
      return problems.length === 0 ? CelOptional.none : new CelOptional(new CelList(problems));
    },
  ),
];

type SemverValue = CelOpaque<Version>;

function semverOf(text: string, normalize = false): SemverValue {
  const version = normalize ? normalizedVersion(text) : parseVersion(text);
  if (typeof version === 'string') throw new CelError(version);
  return new CelOpaque('kubernetes.Semver', version, (value) => {
    return compareVersions(version, value) === 0;
  });
}

function isSemver(text: string, normalize = false): boolean {
  return typeof (normalize ? normalizedVersion(text) : parseVersion(text)) !== 'string';
}

const semverFunctions: readonly Declaration[] = [
  declare('semver(string): Semver', semverOf),
  declare('semver(string,bool): Semver', semverOf),
  declare('isSemver(string): bool', isSemver),
  declare('isSemver(string,bool): bool', isSemver),
  declare('Semver.isGreaterThan(Semver): bool', (one: SemverValue, other: SemverValue) => {
    return compareVersions(one.value, other.value) > 0;
  }),
  declare('Semver.isLessThan(Semver): bool', (one: SemverValue, other: SemverValue) => {
    return compareVersions(one.value, other.value) < 0;
  }),
  declare('Semver.compareTo(Semver): int', (one: SemverValue, other: SemverValue) =>
    BigInt(compareVersions(one.value, other.value)),
  ),
  declare('Semver.major(): int', ({ value }: SemverValue) => BigInt(value[0])),
  declare('Semver.minor(): int', ({ value }: SemverValue) => BigInt(value[1])),
  declare('Semver.patch(): int', ({ value }: SemverValue) => BigInt(value[2])),
];

/** Kubernetes' libraries, except those for lists, patterns and addresses. */
export const kubernetesFunctions: readonly Declaration[] = [
  ...quantityFunctions,
  ...urlFunctions,
  ...formatFunctions,
  ...semverFunctions,
];

/**
 * The parts of a semantic version 2.0.0: the numbers, then the parts of the pre-release. A version without a
 * pre-release has `~` as its last part, which is higher than every pre-release.
 */
type Version = readonly [major: string, minor: string, patch: string, ...preRelease: string[]];

/** Parses a version; returns a string with the problem if invalid. */
function parseVersion(text: string): Version | string {
  if (text === '') return 'Version string empty';
  const [, core = '', pre, build] = /^([^-+]*)(?:-([^+]*))?(?:\+(.*))?$/s.exec(text) ?? [];
  const parts = core.split('.');
  if (parts.length !== 3) return 'No Major.Minor.Patch elements found';
  for (const [index, part] of parts.entries()) {
    const name = ['major', 'minor', 'patch'][index] ?? '';
    const title = name.charAt(0).toUpperCase() + name.slice(1);
    if (!/^\d+$/.test(part))
      return `Invalid character(s) found in ${name} number ${JSON.stringify(part)}`;
    if (part.length > 1 && part.startsWith('0')) {
      return `${title} number must not contain leading zeroes ${JSON.stringify(part)}`;
    }
    if (BigInt(part) >= 2n ** 64n) {
      return `strconv.ParseUint: parsing ${JSON.stringify(part)}: value out of range`;
    }
  }
  const preRelease = pre === undefined ? [] : pre.split('.');
  const wrong = preRelease.map(preReleaseProblem).find((problem) => problem !== undefined);
  if (wrong !== undefined) return wrong;
  for (const part of build === undefined ? [] : build.split('.')) {
    if (part === '') return 'Build meta data is empty';
    if (!/^[0-9A-Za-z-]+$/.test(part)) {
      return `Invalid character(s) found in build meta data ${JSON.stringify(part)}`;
    }
  }
  const [major = '0', minor = '0', patch = '0'] = parts;
  return [major, minor, patch, ...(pre === undefined ? ['~'] : preRelease)];
}

function preReleaseProblem(part: string): string | undefined {
  if (part === '') return 'Prerelease is empty';
  if (/^\d+$/.test(part)) {
    if (part.length === 1 || !part.startsWith('0')) return undefined;
    return `Numeric PreRelease version must not contain leading zeroes ${JSON.stringify(part)}`;
  }
  if (/^[0-9A-Za-z-]+$/.test(part)) return undefined;
  return `Invalid character(s) found in prerelease ${JSON.stringify(part)}`;
}

/** Parses a version that may start with `v`, omit parts or have leading zeros. */
function normalizedVersion(text: string): Version | string {
  const [major = '', minor, ...rest] = text.replace(/^v/, '').split('.');
  const given = minor === undefined ? [major] : [major, minor];
  if (rest.length > 0) given.push(rest.join('.'));
  const parts = given.map((part) => {
    if (part.length <= 1) return part;
    const short = part.replace(/^0+/, '');
    return /^\d/.test(short) ? short : `0${short}`;
  });
  if (parts.length < 3) {
    if (/[-+]/.test(parts.at(-1) ?? '')) {
      return 'short version cannot contain PreRelease/Build meta data';
    }
    while (parts.length < 3) parts.push('0');
  }
  return parseVersion(parts.join('.'));
}

/** Returns -1, 0 or 1 by the rules of precedence. */
function compareVersions(one: Version, other: Version): number {
  for (const [index, part] of one.entries()) {
    const counterpart = other[index];
    if (counterpart === undefined) return 1;
    const order = compareParts(part, counterpart);
    if (order !== 0) return order;
  }
  return one.length < other.length ? -1 : 0;
}

function compareParts(one: string, other: string): number {
  const [left, right] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (left !== right) return left ? -1 : 1;
  if (one === other) return 0;
  if (left) return BigInt(one) < BigInt(other) ? -1 : 1;
  return one < other ? -1 : 1;
}
