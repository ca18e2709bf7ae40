import { isJsonObject } from '../../object/index.js';
import type { Schema } from '../../object/index.js';

/** A deeper schema counts as recursive: its fields are omitted. */
const maxDepth = 20;

/**
 * Returns a minimal value of a structural schema: required fields, and those with a default. Ignores CEL
 * rules and unusual patterns; validate the value before use.
 */
export function minimalValue(schema: Schema, depth = 0): unknown {
  const whole = joined(schema);
  const { default: byDefault, enum: choices = [], type = 'object' } = whole;
  if (byDefault !== undefined) return byDefault;
  if (choices.length > 0) return choices[0];
  if (whole['x-kubernetes-int-or-string'] === true) return 1;
  if (whole['x-kubernetes-embedded-resource'] === true) {
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'sample' } };
  }
  switch (type) {
    case 'string':
      return textOf(whole);
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
      return numberOf(whole);
    case 'array':
      return itemsOf(whole, depth);
    case 'object':
      return fieldsOf(whole, depth);
  }
}

/** Merges the schema with all of `allOf` and the first of `anyOf` and `oneOf`. */
function joined(schema: Schema): Schema {
  const { allOf = [], anyOf = [], oneOf = [] } = schema;
  const parts = [...allOf, ...anyOf.slice(0, 1), ...oneOf.slice(0, 1)].map(joined);
  return parts.reduce(joinedWith, schema);
}

function joinedWith(one: Schema, other: Schema): Schema {
  const properties = { ...one.properties };
  for (const [name, property] of Object.entries(other.properties ?? {})) {
    properties[name] = joinedWith(properties[name] ?? {}, property);
  }
  const required = [...(one.required ?? []), ...(other.required ?? [])];
  return { ...other, ...one, properties, required };
}

function numberOf({ minimum, maximum, multipleOf, ...rest }: Schema): number {
  const step = multipleOf ?? 1;
  const least = minimum ?? Math.min(step, maximum ?? step);
  const first = Math.ceil(least / step) * step;
  const isExcluded = rest.exclusiveMinimum === true && first === minimum;
  return isExcluded ? first + step : first;
}

/** Sample texts of common formats. */
const formats: Readonly<Record<string, string>> = {
  byte: 'c2FtcGxl',
  cidr: '10.0.0.0/24',
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  datetime: '2026-01-01T00:00:00Z',
  duration: '1h',
  email: 'sample@example.com',
  hostname: 'sample.example.com',
  ipv4: '10.0.0.1',
  ipv6: 'fd00::1',
  mac: '00:00:5e:00:53:01',
  uri: 'https://example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
};

function textOf(schema: Schema): string {
  const { format = '', pattern, minLength = 0, maxLength = Infinity } = schema;
  const usual = formats[format];
  if (usual !== undefined) return usual;
  const plain = 'sample'.padEnd(minLength, 'x').slice(0, maxLength);
  if (pattern === undefined) return plain;
  return textOfPattern(pattern, { candidates: [plain], minLength, maxLength }) ?? plain;
}

function itemsOf(schema: Schema, depth: number): readonly unknown[] {
  const { minItems = 0, items = {} } = schema;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return Array.from({ length: minItems }, (_, index) => {
    const { enum: choices = [] } = items;
    if (choices[index] !== undefined) return choices[index];
    const item = minimalValue(items, depth + 1);
    if (index === 0 || !isUnique(schema)) return item;
    if (!isJsonObject(item)) return distinct(item, index);
    const [key = ''] = keys;
    return { ...item, [key]: distinct(item[key], index) };
  });
}

function isUnique({ uniqueItems, ...schema }: Schema): boolean {
  return uniqueItems === true || ['set', 'map'].includes(schema['x-kubernetes-list-type'] ?? '');
}

function distinct(value: unknown, index: number): unknown {
  if (typeof value === 'number') return value + index;
  return typeof value === 'string' ? `${value}${index}` : value;
}

function fieldsOf(schema: Schema, depth: number): Readonly<Record<string, unknown>> {
  const { properties = {}, required = [], additionalProperties, minProperties = 0 } = schema;
  const fields: Record<string, unknown> = {};
  if (depth > maxDepth) return fields;
  for (const [name, property] of Object.entries(properties)) {
    const isWanted = required.includes(name) || property.default !== undefined;
    if (isWanted) fields[name] = minimalValue(property, depth + 1);
  }
  const values = typeof additionalProperties === 'object' ? additionalProperties : {};
  const free = ['sample', ...Array.from({ length: minProperties }, (_, index) => `sample${index}`)];
  const more = additionalProperties === undefined ? Object.keys(properties) : free;
  for (const name of more) {
    if (Object.keys(fields).length >= minProperties) break;
    fields[name] ??= minimalValue(properties[name] ?? values, depth + 1);
  }
  return fields;
}

/** Further requirements for a text that matches a pattern. */
interface PatternText {
  /** Preferred texts, if they match. */
  readonly candidates: readonly string[];
  readonly minLength: number;
  readonly maxLength: number;
}

/** Limit of repetitions of `*`, `+` and similar beyond the minimum. */
const maxRepeats = 64;

/**
 * Returns a text that a regular expression matches: a candidate, or one made of the first alternatives with
 * few repetitions. Undefined if none is found; lookarounds and back-references are not supported.
 */
function textOfPattern(pattern: string, wanted: PatternText): string | undefined {
  const form = regExpOf(pattern);
  if (form === undefined) return undefined;
  const isFine = (text: string): boolean =>
    text.length >= wanted.minLength && text.length <= wanted.maxLength && form.test(text);
  const candidate = wanted.candidates.find(isFine);
  if (candidate !== undefined) return candidate;
  for (let repeats = 0; repeats <= maxRepeats; repeats++) {
    const { text } = alternatives({ pattern, at: 0, repeats });
    if (isFine(text)) return text;
  }
  return undefined;
}

function regExpOf(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return undefined;
  }
}

interface Reading {
  readonly pattern: string;
  readonly at: number;
  readonly repeats: number;
}

/** Text for a part of a pattern, and the end of the part. */
interface Made {
  readonly text: string;
  readonly end: number;
}

/** Reads `a|b|c` up to the end or a closing bracket; uses the first alternative. */
function alternatives(reading: Reading): Made {
  const { pattern } = reading;
  const { text, ...first } = sequence(reading);
  let { end } = first;
  while (pattern[end] === '|') ({ end } = sequence({ ...reading, at: end + 1 }));
  return { text, end };
}

function sequence(reading: Reading): Made {
  const { pattern, repeats } = reading;
  let text = '';
  let at = reading.at;
  while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') {
    const atom = atomAt({ ...reading, at });
    const { least, most, end } = quantifierAt(pattern, atom.end);
    text += atom.text.repeat(Math.min(most, least + repeats));
    at = end;
  }
  return { text, end: at };
}

function quantifierAt(pattern: string, at: number) {
  const [whole, sign = '', low = '', comma = '', high = ''] =
    /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(pattern.slice(at)) ?? [];
  if (whole === undefined) return { least: 1, most: 1, end: at };
  const end = at + whole.length;
  if (sign !== '') return { least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Infinity, end };
  const least = Number(low);
  if (comma === '') return { least, most: least, end };
  return { least, most: high === '' ? Infinity : Number(high), end };
}

function atomAt(reading: Reading): Made {
  const { pattern, at } = reading;
  const character = pattern[at] ?? '';
  if (character === '(') {
    const start = at + (/^\(\?(?::|<\w+>)/.exec(pattern.slice(at))?.[0].length ?? 1);
    const { text, end } = alternatives({ ...reading, at: start });
    return { text, end: end + 1 };
  }
  if (character === '[') return classAt(pattern, at);
  if (character === '\\') return { text: escaped(pattern[at + 1] ?? ''), end: at + 2 };
  if (character === '^' || character === '$') return { text: '', end: at + 1 };
  return { text: character === '.' ? 'a' : character, end: at + 1 };
}

const escapes: Readonly<Record<string, string>> = {
  ...{
    b: '',
    B: '',
    A: '',
    z: '',
    d: '0',
    w: 'a',
    s: ' ',
    D: 'a',
    W: '-',
    S: 'a',
    t: '\t',
    n: '\n',
  },
};

function escaped(letter: string): string {
  return escapes[letter] ?? letter;
}

/** Printable characters, common ones first. */
const characters = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));
const preferred = ['a', 'A', '0', ...characters];

function classAt(pattern: string, at: number): Made {
  const [whole = '['] = /^\[\^?\]?(?:\\.|[^\]\\])*\]/.exec(pattern.slice(at)) ?? [];
  const form = regExpOf(whole);
  return { text: preferred.find((one) => form?.test(one)) ?? '', end: at + whole.length };
}
