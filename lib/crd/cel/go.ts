import { loadRe2 } from '#re2';
import type { RE2JS } from 're2js';
import { LruMap } from '../../system/index.js';

/**
 * A pattern of Go's `regexp` (RE2), with Go's semantics. Matching time grows linearly with the length of the
 * text, so no pattern can stall a server.
 */
export class GoPattern {
  readonly #pattern: RE2JS;

  /** @throws PatternSyntaxError Go rejects the pattern */
  constructor(source: string) {
    const { RE2JS, RE2JSSyntaxException } = loadRe2();
    try {
      this.#pattern = RE2JS.compile(source);
    } catch (error) {
      if (!(error instanceof RE2JSSyntaxException)) throw error;
      throw new PatternSyntaxError(error.getDescription(), error.getPattern() ?? '');
    }
  }

  /** Returns whether a text contains a match. */
  test(text: string): boolean {
    return this.#pattern.test(text);
  }

  /** Returns the first match in a text; undefined without a match. */
  find(text: string): string | undefined {
    return this.findAll(text, 1)[0];
  }

  /**
   * Returns the non-overlapping matches in a text.
   * @param limit - maximum number of matches
   */
  findAll(text: string, limit = Infinity): string[] {
    const all: string[] = [];
    const matcher = this.#pattern.matcher(text);
    let lastEnd = -1;
    while (all.length < limit && matcher.find()) {
      const [start, end] = [matcher.start(), matcher.end()];
      // Like Go, skip an empty match directly after another match.
      if (end > start || start !== lastEnd) all.push(text.slice(start, end));
      lastEnd = end;
    }
    return all;
  }
}

/** Go rejects the pattern; the message is Go's. */
class PatternSyntaxError extends Error {
  override readonly name = 'PatternSyntaxError';

  constructor(what: string, where: string) {
    super(`error parsing regexp: ${what}: \`${where}\``);
  }
}

// Compiled patterns by source. Entries are immutable.
const compiled = new LruMap<string, GoPattern | PatternSyntaxError>(1000);

/** Returns the compiled pattern, or Go's error. */
export function goPattern(source: string): GoPattern | PatternSyntaxError {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const pattern = compile(source);
  compiled.set(source, pattern);
  return pattern;
}

function compile(source: string): GoPattern | PatternSyntaxError {
  try {
    return new GoPattern(source);
  } catch (error) {
    if (error instanceof PatternSyntaxError) return error;
    throw error;
  }
}

/**
 * Formats a number like Go's `%g`: the shortest text that parses to the same number. Below a ten-thousandth
 * and from a million on, it has an exponent of at least two digits.
 */
export function goDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  const digits = String(Math.abs(power)).padStart(2, '0');
  return `${mantissa}e${power < 0 ? '-' : '+'}${digits}`;
}

/** Formats a number with `digits` decimals like Go's `%.1f`: ties round to the even digit. */
export function fixedText(value: number, digits: number): string {
  const rounded = value.toFixed(digits);
  // A tie is an odd multiple of half a binary digit; other values round as in JavaScript.
  const isTie = Math.abs((value * 2 ** (digits + 1)) % 2) === 1;
  if (!isTie || Number(rounded.at(-1)) % 2 === 0) return rounded;
  return (value - Math.sign(value) * 10 ** -digits * 0.5).toFixed(digits);
}

/** The parts of a URL, as parsed by Go's `net/url`. */
export interface GoUrl {
  readonly text: string;
  readonly scheme: string;
  /** Includes the port. */
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly escapedPath: string;
  readonly query: string;
}

/**
 * Parses an absolute URL or path like Go's `ParseRequestURI`; returns a string with the problem if invalid.
 */
export function parseRequestUrl(text: string): GoUrl | string {
  const problem = requestProblem(text);
  if (problem !== undefined) return `parse ${JSON.stringify(text)}: ${problem}`;
  const [, scheme = '', rest = ''] = /^(?:([A-Za-z][-+.A-Za-z0-9]*):)?(.*)$/s.exec(text) ?? [];
  const [beforeFragment = ''] = rest.split('#');
  const mark = beforeFragment.indexOf('?');
  const hierarchy = mark < 0 ? beforeFragment : beforeFragment.slice(0, mark);
  const query = mark < 0 ? '' : beforeFragment.slice(mark + 1);
  const [, authority = '', path = ''] = /^(?:\/\/([^/]*))?(.*)$/s.exec(hierarchy) ?? [];
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const { hostname, port } = hostParts(host);
  // Without a slash after the scheme (`mailto:a`) the path is empty.
  const escapedPath = scheme !== '' && !hierarchy.startsWith('/') ? '' : escaped(path);
  return {
    text,
    scheme: scheme.toLowerCase(),
    host: decoded(host),
    hostname,
    port,
    escapedPath,
    query,
  };
}

function hostParts(host: string): { hostname: string; port: string } {
  const [, bracketed, plain = '', port = ''] = /^(?:\[(.*)\]|([^:]*))(?::(\d*))?$/.exec(host) ?? [];
  return { hostname: decoded(bracketed ?? plain), port };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Escapes characters that a path must not contain; keeps existing escapes. */
function escaped(path: string): string {
  return path.replaceAll(/[^-A-Za-z0-9_.~$&+,/:;=@%!'()*[\]]/gu, (character) =>
    encodeURIComponent(character),
  );
}

function requestProblem(text: string): string | undefined {
  // eslint-disable-next-line no-control-regex -- what the real parser refuses
  if (/[\x00-\x1f\x7f]/.test(text)) return 'net/url: invalid control character in URL';
  if (text === '') return 'empty url';
  const [, scheme, rest = ''] = /^([A-Za-z][-+.A-Za-z0-9]*):(.*)$/s.exec(text) ?? [];
  if (scheme === undefined) {
    if (text.startsWith(':')) return 'missing protocol scheme';
    if (/^[0-9+.-][-+.A-Za-z0-9]*:/.test(text))
      return 'first path segment in URL cannot contain colon';
    if (text !== '*' && !text.startsWith('/')) return 'invalid URI for request';
  } else if (rest === '') return undefined;
  const after = scheme === undefined ? text : rest;
  const authority = /^\/\/([^/?#]*)/.exec(after)?.[1];
  if (authority !== undefined && (scheme !== undefined || !after.startsWith('///'))) {
    const host = authority.slice(authority.lastIndexOf('@') + 1);
    const hostWrong = hostProblem(host);
    if (hostWrong !== undefined) return hostWrong;
  }
  const [path = ''] = after.slice(authority === undefined ? 0 : authority.length + 2).split('?');
  const bad = /%(?![0-9A-Fa-f]{2}).{0,2}/s.exec(path)?.[0];
  return bad === undefined ? undefined : `invalid URL escape ${JSON.stringify(bad)}`;
}

function hostProblem(host: string): string | undefined {
  const odd = /[ "<>\\^`{|}]/.exec(host.replace(/^\[.*\]/, ''))?.[0];
  if (odd !== undefined) return `invalid character ${JSON.stringify(odd)} in host name`;
  // In hosts, only non-ASCII bytes and the percent sign may be escaped.
  const ascii = /%(?!25)[0-7][0-9A-Fa-f]/.exec(host)?.[0];
  if (ascii !== undefined) return `invalid URL escape ${JSON.stringify(ascii)}`;
  if (host.startsWith('[')) {
    const close = host.lastIndexOf(']');
    if (close < 0) return "missing ']' in host";
    return portProblem(host.slice(close + 1));
  }
  const colon = host.lastIndexOf(':');
  return colon < 0 ? undefined : portProblem(host.slice(colon));
}

function portProblem(port: string): string | undefined {
  return port === '' || /^:\d*$/.test(port)
    ? undefined
    : `invalid port ${JSON.stringify(port)} after host`;
}
