import { GoPattern, goPattern } from '../go-pattern.js';
import { declare } from '../overload.js';
import type { Declaration } from '../overload.js';
import { CelError, CelList } from '../values.js';
import { formatText } from './format-text.js';

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
  const parts = old === '' ? ['', ...points(text)] : text.split(old);
  if (old === '') parts.push('');
  const [first = '', ...rest] = old === '' && text === '' ? ['', ''] : parts;
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

/**
 * Compiles a Go pattern from a value.
 * @throws CelError
 */
export function patternOf(source: string): GoPattern {
  const pattern = goPattern(source);
  if (pattern instanceof GoPattern) return pattern;
  throw new CelError(pattern.message);
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
  declare('matches(string,string): bool', (text: string, source: string) =>
    patternOf(source).test(text),
  ),
  declare('string.matches(string): bool', (text: string, source: string) =>
    patternOf(source).test(text),
  ),
  declare('string.find(string): string', (text: string, source: string) => {
    return patternOf(source).find(text) ?? '';
  }),
  declare('string.findAll(string): list<string>', (text: string, source: string) =>
    findAll(text, source),
  ),
  declare('string.findAll(string,int): list<string>', findAll),
  declare('string.charAt(int): string', charAt),
  declare('string.indexOf(string): int', (text: string, part: string) => indexOf(text, part)),
  declare('string.indexOf(string,int): int', indexOf),
  declare('string.lastIndexOf(string): int', (text: string, part: string) =>
    lastIndexOf(text, part),
  ),
  declare('string.lastIndexOf(string,int): int', lastIndexOf),
  declare('string.lowerAscii(): string', (text: string) =>
    text.replaceAll(/[A-Z]+/g, (part) => part.toLowerCase()),
  ),
  declare('string.upperAscii(): string', (text: string) =>
    text.replaceAll(/[a-z]+/g, (part) => part.toUpperCase()),
  ),
  declare('string.replace(string,string): string', (text: string, old: string, next: string) =>
    replace(text, old, next),
  ),
  declare('string.replace(string,string,int): string', replace),
  declare('string.split(string): list<string>', (text: string, separator: string) =>
    split(text, separator),
  ),
  declare('string.split(string,int): list<string>', split),
  declare('string.substring(int): string', (text: string, start: bigint) => substring(text, start)),
  declare('string.substring(int,int): string', substring),
  declare('string.trim(): string', trim),
  declare('string.format(list<dyn>): string', (text: string, args: CelList) =>
    formatText(text, args.items),
  ),
  declare('strings::quote(string): string', quote),
  declare('list<string>.join(): string', (list: CelList) => join(list)),
  declare('list<string>.join(string): string', join),
];
