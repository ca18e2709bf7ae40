import { SyntaxIssue } from './expression.js';
import type { CelIssue } from './expression.js';
import { CelUint } from './values.js';
import type { CelValue } from './values.js';

/** A token; `at` is its offset in code points. */
export type Token =
  | {
      readonly type: 'literal';
      readonly at: number;
      readonly text: string;
      readonly value: CelValue;
    }
  | {
      readonly type: 'identifier';
      readonly at: number;
      readonly text: string;
      readonly quoted: boolean;
    }
  | { readonly type: 'symbol'; readonly at: number; readonly text: string }
  | { readonly type: 'end'; readonly at: number; readonly text: string };

const space = /(?:\s|\/\/[^\n]*)+/y;
const float = /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y;
const integer = /(?:0[xX][0-9a-fA-F]+|\d+)[uU]?/y;
const text =
  /([bB]?)(?:("""|''')([\s\S]*?)(?<!\\)\2|"((?:[^"\\\r\n]|\\.)*)"|'((?:[^'\\\r\n]|\\.)*)')/y;
const rawText = /([bB]?[rR])(?:("""|''')([\s\S]*?)\2|"([^"\r\n]*)"|'([^'\r\n]*)')/y;
const word = /[A-Za-z_][A-Za-z0-9_]*/y;
const quotedWord = /`([A-Za-z0-9_.\-/ ]+)`/y;
const symbol = /&&|\|\||==|!=|<=|>=|[-+*/%!<>?:.,()[\]{}]/y;

/**
 * Splits an expression into tokens. Adds text that is not a token to `issues`, and skips it.
 * @throws SyntaxIssue
 */
export function tokensOf(source: string, issues: CelIssue[]): Token[] {
  const tokens: Token[] = [];
  // Offsets count code points, indexes code units: they differ after an emoji.
  let at = 0;
  let index = 0;
  while (index < source.length) {
    const blank = matchAt(space, source, index);
    const token = blank === undefined ? tokenAt(source, index, at) : undefined;
    const wrong = blank === undefined && token === undefined ? wrongAt(source, index) : undefined;
    const length = (blank?.[0] ?? token?.text ?? wrong ?? '').length;
    if (token !== undefined) tokens.push(token);
    if (wrong !== undefined) {
      issues.push({ at, message: `Syntax error: token recognition error at: '${wrong}'` });
    }
    at += Array.from(source.slice(index, index + length)).length;
    index += length;
  }
  tokens.push({ type: 'end', at, text: '<EOF>' });
  return tokens;
}

function matchAt(form: RegExp, source: string, index: number): RegExpExecArray | undefined {
  // A sticky match; slicing the source for each attempt costs more than the match.
  form.lastIndex = index;
  return form.exec(source) ?? undefined;
}

function tokenAt(source: string, index: number, at: number): Token | undefined {
  const raw = matchAt(rawText, source, index);
  const written = raw ?? matchAt(text, source, index);
  if (written !== undefined) return stringToken(written, at, raw !== undefined);
  const number = matchAt(float, source, index)?.[0];
  if (number !== undefined)
    return { type: 'literal', at, text: number, value: doubleOf(number, at) };
  const whole = matchAt(integer, source, index)?.[0];
  if (whole !== undefined) return { type: 'literal', at, text: whole, value: integerOf(whole, at) };
  const name = matchAt(word, source, index)?.[0];
  if (name !== undefined) return { type: 'identifier', at, text: name, quoted: false };
  const quoted = matchAt(quotedWord, source, index)?.[0];
  if (quoted !== undefined) return { type: 'identifier', at, text: quoted, quoted: true };
  const sign = matchAt(symbol, source, index)?.[0];
  return sign === undefined ? undefined : { type: 'symbol', at, text: sign };
}

const halfToken = /["'][^\n]*|[&|=][^]?/uy;

/**
 * Returns the text that is not a token, as cel-go quotes it in its error: up to the end of the line after a quote, else
 * one or two characters.
 */
function wrongAt(source: string, index: number): string {
  const half = matchAt(halfToken, source, index)?.[0];
  return half ?? String.fromCodePoint(source.codePointAt(index) ?? 0);
}

function doubleOf(written: string, at: number): number {
  const value = Number(written);
  if (!Number.isFinite(value)) throw new SyntaxIssue({ at, message: 'invalid double literal' });
  return value;
}

function integerOf(written: string, at: number): CelValue {
  const unsigned = /[uU]$/.test(written);
  const value = BigInt(unsigned ? written.slice(0, -1) : written);
  if (unsigned) {
    if (value >= 2n ** 64n) throw new SyntaxIssue({ at, message: 'invalid uint literal' });
    return new CelUint(value);
  }
  // 2⁶³ is valid only after a minus sign; the parser checks that.
  if (value > 2n ** 63n) throw new SyntaxIssue({ at, message: 'invalid int literal' });
  return value;
}

function stringToken(match: RegExpExecArray, at: number, raw: boolean): Token {
  const [whole, prefix = '', , triple, double, single] = match;
  const content = (triple ?? double ?? single ?? '').replaceAll('\r\n', '\n');
  const bytesOf = (): Uint8Array =>
    raw ? new TextEncoder().encode(content) : unescapeBytes(content, at);
  const textOf = (): string => (raw ? content : unescapeText(content, at));
  return { type: 'literal', at, text: whole, value: /b/i.test(prefix) ? bytesOf() : textOf() };
}

const simple: Readonly<Partial<Record<string, string>>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
};

const escape =
  /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|[xX]([0-9a-fA-F]{2})|([0-3][0-7]{2})|([\s\S]))/g;

function unescapeText(content: string, at: number): string {
  return content.replaceAll(escape, (_all, ...parts: (string | undefined)[]) => {
    const [short, long, hex, octal, one] = parts;
    if (one !== undefined) return simple[one] ?? invalidEscape(at);
    const code = short ?? long ?? hex ?? octal ?? '';
    const point = parseInt(code, octal === undefined ? 16 : 8);
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
      throw new SyntaxIssue({ at, message: 'invalid unicode code point' });
    }
    return String.fromCodePoint(point);
  });
}

function unescapeBytes(content: string, at: number): Uint8Array {
  const encoder = new TextEncoder();
  const parts: number[] = [];
  let last = 0;
  for (const match of content.matchAll(escape)) {
    const [whole, short, long, hex, octal, one] = match;
    parts.push(...encoder.encode(content.slice(last, match.index)));
    if (short !== undefined || long !== undefined) {
      throw new SyntaxIssue({ at, message: 'unable to unescape string' });
    }
    if (one === undefined) parts.push(parseInt(hex ?? octal ?? '0', octal === undefined ? 16 : 8));
    else parts.push(...encoder.encode(simple[one] ?? invalidEscape(at)));
    last = match.index + whole.length;
  }
  parts.push(...encoder.encode(content.slice(last)));
  return Uint8Array.from(parts);
}

function invalidEscape(at: number): never {
  throw new SyntaxIssue({ at, message: 'Syntax error: invalid escape sequence in a string' });
}
