import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  subtractQuantities,
} from '../../../object/quantity.js';
import type { Quantity } from '../../../object/quantity.js';
import { hasFormat } from '../../validation/schema-formats.js';
import {
  label1035Problems,
  labelProblems,
  labelValueProblems,
  qualifiedNameProblems,
  subdomainProblems,
} from '../../validation/names.js';
import { declare } from '../overload.js';
import type { Declaration } from '../overload.js';
import { parseRequestUrl } from '../go-url.js';
import type { GoUrl } from '../go-url.js';
import { CelDictionary, CelError, CelList, CelOpaque, CelOptional } from '../values.js';
import { compareVersions, normalizedVersion, parseVersion } from '../semver.js';
import type { Version } from '../semver.js';

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

const wholeQuantity = (unscaled: bigint): Quantity => ({ unscaled, scale: 0, format: 'DecimalSI' });
const compare = ({ value: one }: QuantityValue, { value: other }: QuantityValue): number =>
  compareQuantities(one, other);

/** Functions on quantities. */
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
  for (const [name, value] of new URLSearchParams(query)) {
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  const map = new CelDictionary();
  for (const [name, all] of values) map.insert(name, new CelList(all));
  return map;
}

/** Functions on URLs. */
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

/** The prefix of a generated name may end with a dash. */
const prefix =
  (check: FormatCheck): FormatCheck =>
  (text) =>
    check(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -1)}a` : text);

const byFormat =
  (format: string, message: string): FormatCheck =>
  (text) =>
    hasFormat(text, format) ? [] : [message];

const formats: Readonly<Record<string, FormatCheck>> = {
  dns1123Label: labelProblems,
  dns1123Subdomain: subdomainProblems,
  dns1035Label: label1035Problems,
  qualifiedName: qualifiedNameProblems,
  dns1123LabelPrefix: prefix(labelProblems),
  dns1123SubdomainPrefix: prefix(subdomainProblems),
  dns1035LabelPrefix: prefix(label1035Problems),
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

/** Functions on named formats. */
const formatFunctions: readonly Declaration[] = [
  ...Object.keys(formats).map((name) =>
    declare(`format::${name}(): NamedFormat`, () => formatOf(name) ?? null),
  ),
  declare('format::named(string): optional<NamedFormat>', (name: string) => {
    const format = formatOf(name);
    return format === undefined ? CelOptional.none : new CelOptional(format);
  }),
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

/** Functions on semantic versions. */
const semverFunctions: readonly Declaration[] = [
  declare('semver(string): Semver', (text: string) => semverOf(text)),
  declare('semver(string,bool): Semver', semverOf),
  declare('isSemver(string): bool', (text: string) => isSemver(text)),
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
  declare('Semver.major(): int', ({ value }: SemverValue) => value.numbers[0]),
  declare('Semver.minor(): int', ({ value }: SemverValue) => value.numbers[1]),
  declare('Semver.patch(): int', ({ value }: SemverValue) => value.numbers[2]),
];

/** Kubernetes' libraries, except those for lists, patterns and addresses. */
export const kubernetesFunctions: readonly Declaration[] = [
  ...quantityFunctions,
  ...urlFunctions,
  ...formatFunctions,
  ...semverFunctions,
];
