import { GoPattern, goDouble, goPattern } from '../go.js';
import { declare } from '../overload.js';
import type { Declaration } from '../overload.js';
import { durationText, timestampText } from '../times.js';
import { typeText } from '../types.js';
import {
  CelDuration,
  CelError,
  CelList,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  isMap,
  typeOf,
} from '../values.js';
import type { CelMap, CelValue } from '../values.js';

/** CEL counts text in code points. */
const points = (text: string): string[] => Array.from(text);

function charAt(text: string, index: bigint): string {
  const all = points(text);
  checkIndex(index, all.length);
  return all[Number(index)] ?? '';
}

function checkIndex(index: bigint, length: number): void {
  if (index < 0n || index > BigInt(length)) throw new CelError(`index out of range: ${index}`);
}

function find(text: readonly string[], part: readonly string[], at: number): boolean {
  return part.every((character, offset) => text[at + offset] === character);
}

function indexOf(text: string, part: string, offset = 0n): bigint {
  if (part === '') return offset;
  if (offset < 0n) throw new CelError(`index out of range: ${offset}`);
  const [all, wanted] = [points(text), points(part)];
  for (let at = Number(offset); at <= all.length - wanted.length; at++) {
    if (find(all, wanted, at)) return BigInt(at);
  }
  return -1n;
}

function lastIndexOf(text: string, part: string, offset?: bigint): bigint {
  const [all, wanted] = [points(text), points(part)];
  if (part === '') return offset ?? BigInt(all.length);
  if (offset !== undefined && offset < 0n) throw new CelError(`index out of range: ${offset}`);
  if (offset !== undefined && offset >= BigInt(all.length)) return -1n;
  const last = all.length - wanted.length;
  for (let at = Math.min(last, Number(offset ?? last)); at >= 0; at--) {
    if (find(all, wanted, at)) return BigInt(at);
  }
  return -1n;
}

function substring(text: string, start: bigint, end?: bigint): string {
  const all = points(text);
  if (end !== undefined && start > end) {
    throw new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  }
  checkIndex(start, all.length);
  if (end !== undefined) checkIndex(end, all.length);
  return all.slice(Number(start), end === undefined ? undefined : Number(end)).join('');
}

/** Replaces like Go: an empty `old` matches before each character and at the end. */
function replace(text: string, old: string, next: string, times = -1n): string {
  const [first = '', ...rest] = old === '' ? ['', ...points(text), ''] : text.split(old);
  return rest.reduce((all, part, index) => {
    const replaced = times < 0n || BigInt(index) < times;
    return `${all}${replaced ? next : old}${part}`;
  }, first);
}

/** Splits into at most `limit` parts, the last with the remainder; a negative limit means no limit. */
function split(text: string, separator: string, limit = -1n): CelList {
  if (limit === 0n) return new CelList([]);
  const parts = separator === '' ? points(text) : text.split(separator);
  if (limit < 0n || BigInt(parts.length) <= limit) return new CelList(parts);
  const head = parts.slice(0, Number(limit) - 1);
  return new CelList([...head, parts.slice(Number(limit) - 1).join(separator)]);
}

function join(list: CelList, separator = ''): string {
  for (const item of list.items) {
    if (typeof item !== 'string') throw new CelError('no such overload');
  }
  return (list.items as readonly string[]).join(separator);
}

const escapes: Readonly<Partial<Record<string, string>>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

function quote(text: string): string {
  return `"${points(text)
    .map((character) => escapes[character] ?? character)
    .join('')}"`;
}

function trim(text: string): string {
  // Go trims Unicode spaces; JavaScript trims the byte order mark too.
  return text.replace(/^[\s\u0085]+|[\s\u0085]+$/gu, (space) =>
    space.includes('\ufeff') ? space : '',
  );
}

/** Compiles a Go pattern from a value. @throws CelError */
export function patternOf(source: string): GoPattern {
  const pattern = goPattern(source);
  if (pattern instanceof GoPattern) return pattern;
  throw new CelError(pattern.message);
}

function matches(text: string, source: string): boolean {
  return patternOf(source).test(text);
}

function findAll(text: string, source: string, limit = -1n): CelList {
  const most = limit < 0n ? Infinity : Number(limit);
  return new CelList(patternOf(source).findAll(text, most));
}

/** String functions of CEL, of its strings extension, and of Kubernetes' pattern library. */
export const stringFunctions: readonly Declaration[] = [
  declare('string.contains(string): bool', (text: string, part: string) => text.includes(part)),
  declare('string.startsWith(string): bool', (text: string, part: string) => text.startsWith(part)),
  declare('string.endsWith(string): bool', (text: string, part: string) => text.endsWith(part)),
  declare('matches(string,string): bool', matches),
  declare('string.matches(string): bool', matches),
  declare('string.find(string): string', (text: string, source: string) => {
    return patternOf(source).find(text) ?? '';
  }),
  declare('string.findAll(string): list<string>', findAll),
  declare('string.findAll(string,int): list<string>', findAll),
  declare('string.charAt(int): string', charAt),
  declare('string.indexOf(string): int', indexOf),
  declare('string.indexOf(string,int): int', indexOf),
  declare('string.lastIndexOf(string): int', lastIndexOf),
  declare('string.lastIndexOf(string,int): int', lastIndexOf),
  declare('string.lowerAscii(): string', (text: string) =>
    text.replaceAll(/[A-Z]+/g, (part) => part.toLowerCase()),
  ),
  declare('string.upperAscii(): string', (text: string) =>
    text.replaceAll(/[a-z]+/g, (part) => part.toUpperCase()),
  ),
  declare('string.replace(string,string): string', replace),
  declare('string.replace(string,string,int): string', replace),
  declare('string.split(string): list<string>', split),
  declare('string.split(string,int): list<string>', split),
  declare('string.substring(int): string', substring),
  declare('string.substring(int,int): string', substring),
  declare('string.trim(): string', trim),
  declare('string.format(list<dyn>): string', (text: string, args: CelList) =>
    formatText(text, args.items),
  ),
  declare('strings::quote(string): string', quote),
  declare('list<string>.join(): string', join),
  declare('list<string>.join(string): string', join),
];

/** Evaluates `text.format(args)` of the strings extension. @throws CelError */
function formatText(text: string, args: readonly CelValue[]): string {
  let next = 0;
  const result = text.replaceAll(
    /%(?:%|(?:\.(\d+))?([\s\S]?))/g,
    (clause, precision: string | undefined, verb: string | undefined) => {
      if (clause === '%%') return '%';
      if (verb === undefined || verb === '') throw new CelError('unexpected end of string');
      const arg = args[next++];
      if (arg === undefined) throw new CelError(`index ${next - 1} out of range`);
      return formatOne(arg, verb, precision === undefined ? undefined : Number(precision));
    },
  );
  return result;
}

function formatOne(value: CelValue, verb: string, precision = 6): string {
  switch (verb) {
    case 's':
      return shown(value);
    case 'd':
      return inBase(value, 10, 'decimal clause can only be used on integers');
    case 'f':
      // The API server keeps 8 bits of the precision and 16 bits of the width.
      return fixed(value, precision % 256);
    case 'e':
      return scientific(value).padStart(precision % 65_536);
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      return inBase(value, 2, 'only integers and bools can be formatted as binary');
    case 'o':
      return inBase(value, 8, 'octal clause can only be used on integers');
    case 'x':
      return hex(value);
    case 'X':
      return hex(value).toUpperCase();
    default:
      throw new CelError(
        `could not parse formatting clause: unrecognized formatting clause "${verb}"`,
      );
  }
}

function refuse(what: string, value: CelValue): never {
  throw new CelError(`error during formatting: ${what}, was given ${typeText(typeOf(value))}`);
}

function inBase(value: CelValue, base: number, refusal: string): string {
  if (typeof value === 'bigint') return value.toString(base);
  if (value instanceof CelUint) return value.value.toString(base);
  return refuse(refusal, value);
}

function hex(value: CelValue): string {
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return inBase(value, 16, 'only integers, byte buffers, and strings can be formatted as hex');
}

function numberFor(value: CelValue, kind: string): number {
  if (typeof value === 'number') return value;
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return Number(value);
  return refuse(`${kind} clause can only be used on doubles`, value);
}

function special(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isFinite(value)) return undefined;
  return value > 0 ? '∞' : '-∞';
}

function fixed(value: CelValue, precision: number): string {
  const number = numberFor(value, 'fixed-point');
  const text = special(number) ?? withoutExponent(number, precision);
  const [whole = '', fraction] = text.split('.');
  const grouped = whole.replaceAll(/(?<=\d)(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** Formats a number without an exponent, which `toFixed` would write for large numbers. */
function withoutExponent(value: number, precision: number): string {
  if (Math.abs(value) >= 1e21) {
    return `${BigInt(value)}${precision > 0 ? '.' : ''}${'0'.repeat(precision)}`;
  }
  // `toFixed` supports 100 digits. Only numbers near zero have digits other than 0 after that.
  const digits = Math.min(precision, 100);
  return `${value.toFixed(digits)}${'0'.repeat(precision - digits)}`;
}

/** Formats a number with six fractional digits: the API server takes the precision of `%e` for a width. */
function scientific(value: CelValue): string {
  const number = numberFor(value, 'scientific');
  const text = special(number) ?? number.toExponential(6);
  const [mantissa = '', exponent] = text.split('e');
  if (exponent === undefined) return mantissa;
  const sign = exponent.startsWith('-') ? '⁻' : '';
  const digits = exponent.replace(/^[+-]/, '').padStart(2, '0');
  const raised = Array.from(digits, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)] ?? '').join('');
  return `${mantissa}×10${sign}${raised}`;
}

function shown(value: CelValue): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return goDouble(value);
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelTimestamp) return timestampText(value);
  if (value instanceof CelDuration) return durationText(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (value instanceof CelTypeValue) return value.type.name;
  if (value instanceof CelList) return `[${value.items.map(quoted).join(', ')}]`;
  if (isMap(value)) return shownMap(value);
  return refuse(
    'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
    value,
  );
}

function quoted(value: CelValue): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Uint8Array) return `b${JSON.stringify(shown(value))}`;
  if (typeof value !== 'number') return shown(value);
  return Number.isFinite(value) ? withoutExponent(value, 6) : `"${shown(value)}"`;
}

function shownMap(map: CelMap): string {
  const entries = map.keys().map((key) => [quotedKey(key), quoted(map.get(key) ?? null)] as const);
  const sorted = entries.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${sorted.map(([key, value]) => `${key}:${value}`).join(', ')}}`;
}

function quotedKey(key: CelValue): string {
  if (typeof key !== 'number') return quoted(key);
  throw new CelError('error during formatting: no formatting function for map key of type double');
}
