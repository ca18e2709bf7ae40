import type { Schema } from '../../object/index.js';
import { parseRequestUrl } from '../cel/go-url.js';
import { parseOpenApiDuration } from '../cel/times.js';

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
  return pattern(
    new RegExp(`^${hex}{8}-?${hex}{4}-?${group}${hex}{3}-?${variant}${hex}{3}-?${hex}{12}$`),
  );
}

function pattern(form: RegExp): (text: string) => boolean {
  return (text) => form.test(text);
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
  const digits = Array.from(plain.replace('X', '0'), Number);
  const last = plain.endsWith('X') ? 100 : 0;
  return (weighted(digits, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) + last) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const plain = withoutGaps(text);
  return /^\d{13}$/.test(plain) && weighted(Array.from(plain, Number), [1, 3]) % 10 === 0;
}

const cardForm =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;

/** Checks the form of a card number and its Luhn checksum. Ignores all characters except digits. */
function isCreditCard(text: string): boolean {
  const plain = text.replaceAll(/[^0-9]+/g, '');
  const doubled = Array.from(plain, Number)
    .toReversed()
    .map((digit, index) =>
      index % 2 === 0 ? digit : weighted(Array.from(String(digit * 2), Number), [1]),
    );
  return cardForm.test(plain) && weighted(doubled, [1]) % 10 === 0;
}

const shade = String.raw`[\t\n\f\r ]*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])[\t\n\f\r ]*`;
const shortName = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const longName = new RegExp(String.raw`^${shortName}(?:\.${shortName})*$`);

/** The formats that the API server checks, by name without dashes; all others accept any string. */
const formats: Readonly<Partial<Record<string, (text: string) => boolean>>> = {
  datetime: isTime,
  date: (text) => dateForm.test(text) && isDay(text),
  duration: (text) => parseOpenApiDuration(text) !== undefined,
  email: isEmailAddress,
  hostname: isHostname,
  // The server also accepts every IPv6 address with a dot as `ipv4`.
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
  // The server requires both separators: it accepts only strings of eleven characters.
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
 * Returns true if the schema has no format, or a format that the API server supports. The server warns about
 * all other formats.
 */
export function isKnownFormat({ type = 'string', format = '' }: Schema): boolean {
  if (format === '') return true;
  if (type === 'string') return Object.hasOwn(formats, format.replaceAll('-', ''));
  return numberFormats[type]?.includes(format) ?? false;
}

/** Returns whether `text` has the format; true for formats that the API server does not support. */
export function hasFormat(text: string, format: string): boolean {
  const name = format.replaceAll('-', '');
  return Object.hasOwn(formats, name) ? (formats[name]?.(text) ?? true) : true;
}

/**
 * Returns whether a string is a single RFC 5322 address, as Go's `mail.ParseAddress` reads it. The address is
 * plain (`a@b.c`), named (`Ann <a@b.c>`), or the only member of a group.
 */
function isEmailAddress(text: string): boolean {
  const reader = new AddressReader(text);
  return reader.address(true) === 1 && reader.skipComments() && reader.atEnd;
}

class AddressReader {
  readonly #characters: readonly string[];
  #next = 0;

  constructor(text: string) {
    this.#characters = Array.from(text);
  }

  get atEnd(): boolean {
    return this.#next >= this.#characters.length;
  }

  get #peek(): string {
    return this.#characters[this.#next] ?? '';
  }

  /** Returns the number of addresses read; 0 if invalid. */
  address(orGroup: boolean): number {
    this.#skipSpace();
    const start = this.#next;
    if (this.#plain()) return 1;
    this.#next = start;
    if (this.#peek !== '<' && !this.#phrase()) return 0;
    if (orGroup && this.#take(':')) return this.#group();
    return this.#take('<') && this.#plain() && this.#take('>') ? 1 : 0;
  }

  /** Returns whether all comments that follow are terminated. */
  skipComments(): boolean {
    this.#skipSpace();
    while (this.#take('(')) {
      if (!this.#comment()) return false;
      this.#skipSpace();
    }
    return true;
  }

  #take(character: string): boolean {
    if (this.#peek !== character) return false;
    this.#next++;
    return true;
  }

  #skipSpace(): void {
    while (isSpace(this.#peek)) this.#next++;
  }

  #comment(): boolean {
    let depth = 1;
    for (; depth > 0; this.#next++) {
      if (this.atEnd) return false;
      if (this.#peek === '\\' && this.#next + 1 < this.#characters.length) this.#next++;
      else if (this.#peek === '(') depth++;
      else if (this.#peek === ')') depth--;
    }
    return true;
  }

  #group(): number {
    let count = 0;
    this.#skipSpace();
    if (this.#take(';')) return 0;
    for (;;) {
      const found = this.address(false);
      if (found === 0) return 0;
      count += found;
      if (!this.skipComments()) return 0;
      if (this.#take(';')) return this.skipComments() ? count : 0;
      if (!this.#take(',')) return 0;
    }
  }

  /** `local@domain` */
  #plain(): boolean {
    this.#skipSpace();
    const local = this.#peek === '"' ? this.#quoted() : this.#atom(false);
    if (local === undefined || local === '' || !this.#take('@')) return false;
    this.#skipSpace();
    return this.#peek === '[' ? this.#literal() : this.#atom(false) !== undefined;
  }

  /** Reads words, and the spaces and comments after each. */
  #phrase(): boolean {
    let words = 0;
    for (;;) {
      const word = this.#peek === '"' ? this.#quoted() : this.#atom(true);
      if (word === undefined) return words > 0;
      words++;
      this.skipComments();
    }
  }

  /** Returns undefined if the text is unterminated or has control characters. */
  #quoted(): string | undefined {
    let text = '';
    for (this.#next++; !this.#take('"'); this.#next++) {
      if (this.#peek === '\\') this.#next++;
      else if (!isVisible(this.#peek) && !isSpace(this.#peek)) return undefined;
      if (!isVisible(this.#peek) && !isSpace(this.#peek)) return undefined;
      text += this.#peek;
    }
    return text;
  }

  /** @param permissive - allows dots anywhere */
  #atom(permissive: boolean): string | undefined {
    let text = '';
    for (; isVisible(this.#peek) && !'()<>[]:;@\\,"'.includes(this.#peek); this.#next++) {
      text += this.#peek;
    }
    if (text === '') return undefined;
    const dotted = text.startsWith('.') || text.endsWith('.') || text.includes('..');
    return dotted && !permissive ? undefined : text;
  }

  /** Reads a network address in brackets. */
  #literal(): boolean {
    const end = this.#characters.indexOf(']', this.#next);
    if (end < 0) return false;
    const address = this.#characters.slice(this.#next + 1, end).join('');
    this.#next = end + 1;
    return isIpv4(address) || isIpv6(address);
  }
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\t';
}

/** Every character beyond ASCII counts as visible. */
function isVisible(character: string): boolean {
  return character > ' ' && character !== '\x7f';
}

/** Labels may contain symbols and letters of any script; the last label only letters. */
const hostCharacter = String.raw`a-zA-Z0-9\p{S}\p{L}`;
const hostForm = new RegExp(
  `^(?:[${hostCharacter}](?:-?[${hostCharacter}]{0,62})?` +
    `|(?:[${hostCharacter}](?:[-${hostCharacter}]{0,61}[${hostCharacter}])?\\.)+[a-zA-Z\\p{L}]{2,63})$`,
  'u',
);

/** Returns whether a string is a host name by the API server's format `hostname`. */
function isHostname(text: string): boolean {
  const size = (part: string): number => Buffer.byteLength(part);
  return size(text) <= 255 && hostForm.test(text) && text.split('.').every((one) => size(one) < 64);
}

const ipv4Part = /^\d+$/;
const paddedPart = /(?:^|\.)0\d/;

/** Accepts four numbers up to 255; leading zeros are ignored. */
function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((one) => ipv4Part.test(one) && Number(one) <= 255);
}

/** Accepts eight groups, or fewer with one `::`; the last two may be an IPv4 address. */
function isIpv6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1) ?? '';
  const tail = last.includes('.') && !text.endsWith('::');
  if (tail && (!isIpv4(last) || paddedPart.test(last))) return false;
  if (tail) groups.pop();
  const count = groups.length + (tail ? 2 : 0);
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return false;
  return halves.length === 2 ? count < 8 : count === 8;
}

/** Accepts an address with a prefix length. */
function isCidr(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/');
  if (more.length > 0 || !/^\d+$/.test(bits)) return false;
  if (isIpv4(address)) return Number(bits) <= 32;
  return isIpv6(address) && Number(bits) <= 128;
}

/** Bytes with one kind of separator or none, or pairs of bytes between dots. */
const macForm =
  /^(?:[\da-f]{2}(?::[\da-f]{2})+|[\da-f]{2}(?:-[\da-f]{2})+|[\da-f]{4}(?:\.[\da-f]{4})+|[\da-f]+)$/i;

/** Accepts 6, 8 or 20 bytes. */
function isMac(text: string): boolean {
  return macForm.test(text) && [12, 16, 40].includes(text.replaceAll(/[:.-]/g, '').length);
}
