import { loadRe2 } from '#re2';
import type { RE2JS } from 're2js';

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
export class PatternSyntaxError extends Error {
  override readonly name = 'PatternSyntaxError';

  constructor(what: string, where: string) {
    super(`error parsing regexp: ${what}: \`${where}\``);
  }
}

// Compiled patterns by source. Entries are immutable.
const compiled = new Map<string, GoPattern | PatternSyntaxError>();
const mostCompiled = 1000;

/** Returns the compiled pattern, or Go's error. */
export function goPattern(source: string): GoPattern | PatternSyntaxError {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  if (compiled.size >= mostCompiled) compiled.clear();
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
