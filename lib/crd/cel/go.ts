import { loadRe2 } from '#re2';
import type { RE2JS } from 're2js';
import { LruMap } from '../../system/index.js';

/**
 * A pattern of Go's `regexp` (RE2), with Go's semantics. Matching time grows linearly with the length of the
 * text, so no pattern can stall a server.
 */
export class GoPattern {
  readonly #pattern: RE2JS;

  // The parameter is not an RE2JS: the type of RE2JS needs TypeScript 5.7, and would be in this package's types.
  constructor(source: string) {
    this.#pattern = loadRe2().RE2JS.compile(source);
  }

  /** Returns whether a string contains a match. */
  test(text: string): boolean {
    return this.#pattern.test(text);
  }

  /** Returns the first match in a string; undefined without a match. */
  find(text: string): string | undefined {
    return this.findAll(text, 1)[0];
  }

  /** Returns the non-overlapping matches in a string. @param limit - maximum number of matches */
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
    if (!(error instanceof loadRe2().RE2JSSyntaxException)) throw error;
    return new PatternSyntaxError(error.getDescription(), error.getPattern() ?? '');
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
