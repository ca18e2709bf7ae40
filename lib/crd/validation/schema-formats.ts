import { parseOpenApiDuration } from '../cel/times.js';

const date = String.raw`\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`;
/** Whether there is such a day: the pattern takes the 30th of February. */
function isDay(text: string): boolean {
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text.slice(0, 10));
}

/** Symbols and letters of any script may be in a label; the last one has letters only. */
const hostCharacter = String.raw`a-zA-Z0-9\p{S}\p{L}`;
const hostForm = new RegExp(
  `^(?:[${hostCharacter}](?:-?[${hostCharacter}]{0,62})?` +
    `|(?:[${hostCharacter}](?:[-${hostCharacter}]{0,61}[${hostCharacter}])?\\.)+[a-zA-Z\\p{L}]{2,63})$`,
  'u',
);

function isHostname(text: string): boolean {
  const size = (part: string): number => Buffer.byteLength(part);
  return size(text) <= 255 && hostForm.test(text) && text.split('.').every((one) => size(one) < 64);
}

const ipv4Part = /^\d+$/;
const paddedPart = /(?:^|\.)0\d/;

/** Of four numbers to 255; zeros in front say nothing. */
function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((one) => ipv4Part.test(one) && Number(one) <= 255);
}

/** Eight groups, or fewer with one `::`; the last two may be written as an IPv4 address. */
function isIpv6(text: string): boolean {
  const halves = text.split('::');
  if (!text.includes(':') || halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1) ?? '';
  const tail = last.includes('.') && !text.endsWith('::');
  if (tail && (!isIpv4(last) || paddedPart.test(last))) return false;
  if (tail) groups.pop();
  const count = groups.length + (tail ? 2 : 0);
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return false;
  return halves.length === 2 ? count < 8 : count === 8;
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/');
  if (more.length > 0 || !/^\d+$/.test(bits)) return false;
  if (isIpv4(address)) return Number(bits) <= 32;
  return isIpv6(address) && Number(bits) <= 128;
}

/** Of 6, 8 or 20 bytes; with one kind of separator. */
function isMac(text: string): boolean {
  const bytes = text.split(/[:-]/).length;
  if (/^[0-9a-fA-F]{2}(?:(:|-)[0-9a-fA-F]{2})(?:\1[0-9a-fA-F]{2})*$/.test(text)) {
    return bytes === 6 || bytes === 8 || bytes === 20;
  }
  return /^[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4})+$/.test(text) && [14, 19, 49].includes(text.length);
}

const timeForm = new RegExp(
  String.raw`^${date}[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:[.,]\d+)?(?:[Zz]|[+-]\d\d:\d\d)$`,
);
const isTime = (text: string): boolean => timeForm.test(text) && isDay(text);

/** The formats that the API server checks; others say nothing. */
const formats: Readonly<Partial<Record<string, (text: string) => boolean>>> = {
  'date-time': isTime,
  datetime: isTime,
  date: (text) => new RegExp(`^${date}$`).test(text) && isDay(text),
  duration: (text) => parseOpenApiDuration(text) !== undefined,
  email: (text) => /^[^\s@<>]+@[^\s@<>]+$/.test(text),
  hostname: isHostname,
  // With a dot in it, that is: the server asks for no more.
  ipv4: (text) => isIpv4(text) || (text.includes('.') && isIpv6(text)),
  ipv6: isIpv6,
  cidr: isCidr,
  mac: isMac,
  uri: (text) => URL.canParse(text) || text.startsWith('/'),
  uuid: (text) => /^[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$/.test(text),
  uuid3: (text) =>
    /^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?3[0-9a-fA-F]{3}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$/.test(text),
  uuid5: (text) =>
    /^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?5[0-9a-fA-F]{3}-?[89abAB][0-9a-fA-F]{3}-?[0-9a-fA-F]{12}$/.test(
      text,
    ),
  uuid4: (text) =>
    /^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?4[0-9a-fA-F]{3}-?[89abAB][0-9a-fA-F]{3}-?[0-9a-fA-F]{12}$/.test(
      text,
    ),
  byte: (text) =>
    text !== '' && /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
  bsonobjectid: (text) => /^[0-9a-fA-F]{24}$/.test(text),
  creditcard: (text) => /^[\d -]{12,23}$/.test(text),
  hexcolor: (text) => /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
};

/** Whether `text` is of a format; of an unknown one every text is. */
export function hasFormat(text: string, format: string): boolean {
  return formats[format]?.(text) ?? true;
}
