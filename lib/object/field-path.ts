import { htmlSafeJson } from './go-text.js';
import { OperatorError } from '../system/index.js';
import { isJsonObject, memberOf } from './json.js';

/**
 * One step of a path, in the form of `managedFields`. Two steps are the same if and only if their strings are
 * equal:
 *
 * - `f:spec`: the field or map key `spec`;
 * - `k:{"name":"web"}`: the entry of a list of objects with that key, its fields sorted;
 * - `v:"x"`: the entry of a list of scalars that is a set;
 * - `i:0`: the entry of an atomic list (the server never writes it).
 */
export type PathElement = string;

/** The path from an object to one of its fields. */
export type FieldPath = readonly PathElement[];

/** A parsed {@link PathElement}. */
export type ParsedElement =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'key'; readonly keys: readonly (readonly [string, unknown])[] }
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'index'; readonly index: number };

/** Returns the element of the field or map key `name`. */
export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

/** Returns the element of the list entry with these key fields. */
export function keyElement(keys: Readonly<Record<string, unknown>>): PathElement {
  return keyText(Object.entries(keys));
}

/** Returns the element of the set entry `value`. */
export function valueElement(value: unknown): PathElement {
  return `v:${elementJson(value)}`;
}

/** Returns the element of the atomic list entry at `index`. */
export function indexElement(index: number): PathElement {
  return `i:${index}`;
}

/** Returns a path of field names: `fieldPath('spec', 'replicas')`. */
export function fieldPath(...names: readonly string[]): FieldPath {
  return names.map(fieldElement);
}

/** Parses an element. @throws OperatorError `InvalidValue`: the text is not an element. */
export function parsePathElement(element: PathElement): ParsedElement {
  if (element.startsWith('f:')) return { type: 'field', name: element.slice(2) };
  return parseEntry(element);
}

/** An element of a list. */
type ParsedEntry = Exclude<ParsedElement, { type: 'field' }>;

function parseEntry(element: PathElement): ParsedEntry {
  const known = parsedElements.get(element);
  if (known !== undefined) return known;
  const parsed = parseElement(element);
  if (parsedElements.size >= mostParsedElements) parsedElements.clear();
  parsedElements.set(element, parsed);
  return parsed;
}

// A cache of parsed elements: the keys of containers and ports are the same in most objects.
const parsedElements = new Map<PathElement, ParsedEntry>();
const mostParsedElements = 1_000;

function parseElement(element: PathElement): ParsedEntry {
  if (element.length < 2) throw invalid(element, 'key must be 2 characters long:');
  if (element[1] !== ':') throw invalid(element, `missing colon: ${element}`);
  const rest = element.slice(2);
  switch (element.charAt(0)) {
    case 'k':
      return { type: 'key', keys: parseKeys(element, rest) };
    case 'v':
      return { type: 'value', value: parseJson(element, rest) };
    case 'i':
      if (!/^[-+]?\d+$/.test(rest)) throw invalid(element, `invalid index ${rest}`);
      return { type: 'index', index: Number(rest) };
    default:
      throw invalid(element, 'unknown path element type');
  }
}

/**
 * Normalizes an element of any writer (spaces, order of keys) to the server's form. Returns `undefined` for
 * an unknown type, which must be ignored.
 * @throws OperatorError `InvalidValue`: the text is not an element.
 */
export function canonicalElement(text: string): PathElement | undefined {
  if (isPlainElement(text)) return text;
  if (text.length >= 2 && text[1] === ':' && !'kvi'.includes(text.charAt(0))) return undefined;
  const parsed = parseEntry(text);
  switch (parsed.type) {
    case 'key':
      return keyText(parsed.keys);
    case 'value':
      return valueElement(parsed.value);
    case 'index':
      return indexElement(parsed.index);
  }
}

/** Whether `text` is an element in the server's form; false for rare forms, which have to be parsed. */
export function isPlainElement(text: string): boolean {
  return text.startsWith('f:') || plainKey.test(text);
}

// The most common form of a list key, which is canonical without parsing.
const plainKey = /^k:\{"\w+":(?:"[\w ./:-]*"|0|[1-9]\d{0,14})\}$/;

/**
 * Compares elements in the server's order: fields, keys, values, indexes. Numbers compare by value, strings by
 * their bytes. Texts beyond the Basic Multilingual Plane compare by UTF-16 units.
 */
export function comparePathElements(a: PathElement, b: PathElement): number {
  const rank = 'fkvi'.indexOf(a.charAt(0)) - 'fkvi'.indexOf(b.charAt(0));
  if (rank !== 0) return rank;
  if (a.charCodeAt(0) === fieldCode) return compareTexts(a, b);
  return comparePlainKeys(a, b) || compareParsed(parsePathElement(a), parsePathElement(b));
}

const fieldCode = 'f'.charCodeAt(0);

/** Compares two keys whose first fields have the same name and strings without escapes; 0 for other keys. */
function comparePlainKeys(a: PathElement, b: PathElement): number {
  const start = a.indexOf('":"') + 3;
  if (start < 3 || a.includes('\\') || b.includes('\\')) return 0;
  if (!b.startsWith(a.slice(0, start))) return 0;
  const [textA, textB] = [
    a.slice(start, a.indexOf('"', start)),
    b.slice(start, b.indexOf('"', start)),
  ];
  return compareTexts(textA, textB);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareParsed(a: ParsedElement, b: ParsedElement): number {
  if (a.type === 'key' && b.type === 'key') return compareKeys(a.keys, b.keys);
  if (a.type === 'value' && b.type === 'value') return compareScalars(a.value, b.value);
  if (a.type === 'index' && b.type === 'index') return a.index - b.index;
  return 0;
}

type Keys = readonly (readonly [string, unknown])[];

function compareKeys(a: Keys, b: Keys): number {
  for (let at = 0; at < a.length && at < b.length; at++) {
    const [[nameA, valueA], [nameB, valueB]] = [a[at] as Keys[0], b[at] as Keys[0]];
    const order = compareTexts(nameA, nameB) || compareScalars(valueA, valueB);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

// Orders numbers first, then strings, booleans and other values.
function compareScalars(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  return scalarRank(a) - scalarRank(b);
}

function scalarRank(value: unknown): number {
  const rank = ['number', 'string', 'boolean', 'object'].indexOf(typeof value);
  return value === null ? 4 : rank;
}

/** Formats a path for people: `spec.template.spec.containers[name=web].image`. */
export function pathToString(path: FieldPath): string {
  return path.map((element, at) => stepText(parsePathElement(element), at)).join('');
}

function stepText(element: ParsedElement, at: number): string {
  if (element.type !== 'field') return entryText(element, plainText);
  // A dot in a name (labels, annotations) must not look like a step.
  if (/[.[\]]/.test(element.name)) return `[${JSON.stringify(element.name)}]`;
  return at === 0 ? element.name : `.${element.name}`;
}

function entryText(element: ParsedEntry, show: (value: unknown) => string): string {
  switch (element.type) {
    case 'key':
      return `[${element.keys.map(([name, value]) => `${name}=${show(value)}`).join(',')}]`;
    case 'value':
      return `[=${show(element.value)}]`;
    case 'index':
      return `[${element.index}]`;
  }
}

function plainText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Formats a path like the API server's messages: `.spec.ports[port=80,protocol="TCP"].name`. */
export function pathToServerString(path: FieldPath): string {
  return path.map(elementToServerString).join('');
}

/** Formats one step of {@link pathToServerString}. */
export function elementToServerString(element: PathElement): string {
  const parsed = parsePathElement(element);
  return parsed.type === 'field' ? `.${parsed.name}` : entryText(parsed, quoted);
}

function quoted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(quoted).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${name}=${quoted(member)}`);
  return members.join('');
}

/** Returns the JSON of a value as the server writes it inside an element: `<`, `>` and `&` are escaped. */
export function elementJson(value: unknown): string {
  if (typeof value === 'string' && needsNoEscapes.test(value)) return `"${value}"`;
  const text = JSON.stringify(value);
  if (typeof value !== 'string') return text;
  // Matches whole escape sequences: `\\b` is an escaped backslash and the letter b, and must stay.
  return htmlSafeJson(text).replaceAll(/\\./g, (sequence) => escapes.get(sequence) ?? sequence);
}

const needsNoEscapes = /^[\w ./:-]*$/;
const escapes = new Map([
  ['\\b', '\\u0008'],
  ['\\f', '\\u000c'],
]);

function keyText(keys: Keys): PathElement {
  const sorted = keys.length < 2 ? keys : [...keys].sort(([a], [b]) => compareTexts(a, b));
  return `k:{${sorted.map(([name, value]) => `${elementJson(name)}:${elementJson(value)}`).join(',')}}`;
}

function parseKeys(element: string, text: string): Keys {
  const parsed = parseJson(element, text);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw invalid(element, 'a key must be an object');
  }
  return Object.entries(parsed).sort(([a], [b]) => compareTexts(a, b));
}

function parseJson(element: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(element, (error as Error).message, error);
  }
}

function invalid(element: string, why: string, cause?: unknown): OperatorError {
  return new OperatorError('InvalidValue', `path element ${JSON.stringify(element)}: ${why}`, {
    cause,
  });
}

/** Returns the value at `path` in `object`, or `undefined`. */
export function valueAtPath(object: unknown, path: FieldPath): unknown {
  return path.reduce<unknown>((value, element) => step(value, parsePathElement(element)), object);
}

function step(value: unknown, element: ParsedElement): unknown {
  if (element.type === 'field') {
    return isJsonObject(value) ? memberOf(value, element.name) : undefined;
  }
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  switch (element.type) {
    case 'key':
      return (
        items.find((item) => hasKeys(item, element.keys, true)) ??
        items.find((item) => hasKeys(item, element.keys, false))
      );
    case 'value':
      return items.find((item) => item === element.value);
    case 'index':
      return items[element.index];
  }
}

/**
 * Whether `item` is the list entry with these keys. An absent key has its default, unless `exactly` requires
 * all keys.
 */
export function hasKeys(
  item: unknown,
  keys: readonly (readonly [string, unknown])[],
  exactly: boolean,
): boolean {
  if (!isJsonObject(item)) return false;
  return keys.every(([name, value]) => {
    const own = memberOf(item, name);
    return own === undefined ? !exactly : own === value;
  });
}
