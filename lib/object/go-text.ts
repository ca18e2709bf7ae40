import { isJsonObject } from './json.js';

/** Returns JSON as Go writes it by default: safe in HTML. */
export function htmlSafeJson(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, unicodeEscape);
}

/** Returns the escape sequence of a character in JSON. */
export function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Formats a JSON value like Go's `%v`: `map[a:1 b:[x y]]`, `<nil>`. */
export function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isJsonObject(value)) return goScalar(value);
  const members = Object.keys(value).toSorted();
  return `map[${members.map((name) => `${name}:${goText(value[name])}`).join(' ')}]`;
}

/** Formats a JSON value like Go's `%#v`: `map[string]interface {}{"a":1}`. */
export function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (typeof value === 'string') return quoted(value);
  if (!isJsonObject(value)) return goScalar(value);
  const members = Object.keys(value).toSorted();
  const texts = members.map((name) => `${quoted(name)}:${goSyntax(value[name])}`);
  return `map[string]interface {}{${texts.join(', ')}}`;
}

/** Returns the Go type that a JSON value is decoded into. */
export function goTypeOf(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : 'map[string]interface {}';
}

function goScalar(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns `text` in double quotes, as Go's `%q` writes it. */
export function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]|[^ \p{L}\p{M}\p{N}\p{P}\p{S}]/gu, escaped)}"`;
}

const escapes: ReadonlyMap<string, string> = new Map([
  ...(['"', '\\'] as const).map((sign) => [sign, sign] as const),
  ...Object.entries({ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }).map(
    ([letter, sign]) => [sign, letter] as const,
  ),
]);

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = (length: number): string => code.toString(16).padStart(length, '0');
  const byNumber = code < 0x80 ? `x${hex(2)}` : code < 0x10000 ? `u${hex(4)}` : `U${hex(8)}`;
  return `\\${escapes.get(character) ?? byNumber}`;
}
