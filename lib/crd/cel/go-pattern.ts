import { PatternMachine } from './pattern/machine.js';
import { PatternSyntaxError } from './pattern/node.js';
import { parsePattern } from './pattern/parse-pattern.js';

/**
 * A pattern of Go's `regexp` (RE2), with Go's semantics. Matching time grows linearly with the length of the
 * text, so no pattern can stall a server.
 */
export class GoPattern {
  readonly #machine: PatternMachine;

  /** @throws PatternSyntaxError Go rejects the pattern */
  constructor(source: string) {
    this.#machine = new PatternMachine(parsePattern(source));
  }

  /** Returns whether a text contains a match. */
  test(text: string): boolean {
    return this.#machine.find(pointsOf(text), 0, true) !== undefined;
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
    const points = pointsOf(text);
    const all: string[] = [];
    let [at, lastEnd] = [0, -1];
    while (at <= points.length && all.length < limit) {
      const found = this.#machine.find(points, at);
      if (found === undefined) break;
      const { start, end } = found;
      // Like Go, skip an empty match directly after another match.
      if (end > start || start !== lastEnd) {
        all.push(
          points
            .slice(start, end)
            .map((one) => String.fromCodePoint(one))
            .join(''),
        );
      }
      lastEnd = end;
      at = end > at ? end : at + 1;
    }
    return all;
  }
}

function pointsOf(text: string): number[] {
  return Array.from(text, (one) => one.codePointAt(0) ?? 0);
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
