import type { Schema } from '../../object/schema.js';
import { parseRequestUrl } from '../cel/go.js';
import { parseOpenApiDuration } from '../cel/times.js';
import { isEmailAddress } from './email-address.js';
import { isCidr, isHostname, isIpv4, isIpv6, isMac } from './network-addresses.js';

const date = String.raw`\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`;
const dateForm = new RegExp(`^${date}$`);

/** Returns whether the day exists: the pattern accepts the 30th of February. */
function isDay(text: string): boolean {
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text.slice(0, 10));
}

const timeForm = new RegExp(
  String.raw`^${date}[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:[.,]\d+)?(?:[Zz]|[+-]\d\d:\d\d)$`,
);
const isTime = (text: string): boolean => timeForm.test(text) && isDay(text);

const hex = '[0-9a-fA-F]';

/** @param group - the third group: its first digit is the version */
function uuidForm(group: string, variant = hex): (text: string) => boolean {
  const form = new RegExp(
    `^${hex}{8}-?${hex}{4}-?${group}${hex}{3}-?${variant}${hex}{3}-?${hex}{12}$`,
  );
  return (text) => form.test(text);
}

function pattern(form: RegExp): (text: string) => boolean {
  return (text) => form.test(text);
}

function digitsOf(text: string): number[] {
  return Array.from(text, Number);
}

/** Returns the weighted sum of the digits, repeating the weights. */
function weighted(digits: readonly number[], weights: readonly number[]): number {
  const products = digits.map((digit, index) => digit * (weights[index % weights.length] ?? 1));
  return products.reduce((sum, product) => sum + product, 0);
}

const withoutGaps = (text: string): string => text.replaceAll(/[\t\n\f\r -]+/g, '');

/** The tenth character is a check digit; X stands for 10. */
function isIsbn10(text: string): boolean {
  const plain = withoutGaps(text);
  if (!/^\d{9}[\dX]$/.test(plain)) return false;
  const digits = digitsOf(plain.replace('X', '0'));
  const last = plain.endsWith('X') ? 100 : 0;
  return (weighted(digits, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) + last) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const plain = withoutGaps(text);
  return /^\d{13}$/.test(plain) && weighted(digitsOf(plain), [1, 3]) % 10 === 0;
}

const cardForm =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;

/** Checks the card form and Luhn's sum, ignoring all characters except digits. */
function isCreditCard(text: string): boolean {
  const plain = text.replaceAll(/[^0-9]+/g, '');
  const doubled = digitsOf(plain)
    .toReversed()
    .map((digit, index) => (index % 2 === 0 ? digit : weighted(digitsOf(String(digit * 2)), [1])));
  return cardForm.test(plain) && weighted(doubled, [1]) % 10 === 0;
}

const shade = String.raw`[\t\n\f\r ]*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])[\t\n\f\r ]*`;
const shortName = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const longName = new RegExp(String.raw`^${shortName}(?:\.${shortName})*$`);

/** The formats that the API server checks, without dashes; all others accept any text. */
const formats: Readonly<Partial<Record<string, (text: string) => boolean>>> = {
  datetime: isTime,
  date: (text) => dateForm.test(text) && isDay(text),
  duration: (text) => parseOpenApiDuration(text) !== undefined,
  email: isEmailAddress,
  hostname: isHostname,
  // A dot suffices: the server accepts any IPv6 text with a dot.
  ipv4: (text) => isIpv4(text) || (text.includes('.') && isIpv6(text)),
  ipv6: isIpv6,
  cidr: isCidr,
  mac: isMac,
  uri: (text) => typeof parseRequestUrl(text) !== 'string',
  uuid: uuidForm(hex),
  uuid3: uuidForm('3'),
  uuid4: uuidForm('4', '[89abAB]'),
  uuid5: uuidForm('5', '[89abAB]'),
  byte: (text) =>
    text !== '' && /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
  bsonobjectid: pattern(/^[0-9a-fA-F]{24}$/),
  creditcard: isCreditCard,
  hexcolor: pattern(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: pattern(new RegExp(String.raw`^rgb\(${shade},${shade},${shade}\)$`)),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  // Both separators are required: eleven characters.
  ssn: pattern(/^\d{3}[- ]\d{2}[- ]\d{4}$/),
  password: () => true,
  k8sshortname: (text) => text.length <= 63 && new RegExp(`^${shortName}$`).test(text),
  k8slongname: (text) => text.length <= 253 && longName.test(text),
};

const numberFormats: Readonly<Partial<Record<string, readonly string[]>>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

/**
 * Returns whether the API server knows the schema's format, if it has one; the server warns about unknown
 * ones.
 */
export function isKnownFormat({ type = 'string', format = '' }: Schema): boolean {
  if (format === '') return true;
  if (type === 'string') return Object.hasOwn(formats, format.replaceAll('-', ''));
  return numberFormats[type]?.includes(format) ?? false;
}

/** Returns whether `text` has the format; true for unknown formats. */
export function hasFormat(text: string, format: string): boolean {
  const name = format.replaceAll('-', '');
  return Object.hasOwn(formats, name) ? (formats[name]?.(text) ?? true) : true;
}
