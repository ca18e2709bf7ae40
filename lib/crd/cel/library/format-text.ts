import { goDouble } from '../go-double.js';
import { durationText, timestampText } from '../times.js';
import { typeText } from '../types.js';
import { typeOf } from '../type-of.js';
import {
  CelDuration,
  CelError,
  CelList,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  isMap,
} from '../values.js';
import type { CelMap, CelValue } from '../values.js';

/**
 * Evaluates `text.format(args)` of the strings extension.
 * @throws CelError
 */
export function formatText(text: string, args: readonly CelValue[]): string {
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
      if (typeof value === 'bigint') return String(value);
      if (value instanceof CelUint) return String(value.value);
      return refuse('decimal clause can only be used on integers', value);
    case 'f':
      return fixed(value, precision);
    case 'e':
      return scientific(value, precision);
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
  const text = special(number) ?? number.toFixed(precision);
  const [whole = '', fraction] = text.split('.');
  const grouped = whole.replaceAll(/(?<=\d)(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function scientific(value: CelValue, precision: number): string {
  const number = numberFor(value, 'scientific');
  const text = special(number) ?? number.toExponential(precision);
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
  if (typeof value === 'number' && !Number.isFinite(value)) return `"${shown(value)}"`;
  return shown(value);
}

function shownMap(map: CelMap): string {
  const entries = map.keys().map((key) => [quoted(key), quoted(map.get(key) ?? null)] as const);
  const sorted = entries.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${sorted.map(([key, value]) => `${key}:${value}`).join(', ')}}`;
}
