import { PatternMachine } from './pattern/machine.js';
import { PatternSyntaxError } from './pattern/node.js';
import { parsePattern } from './pattern/parse-pattern.js';

/**
 * A pattern of Go's `regexp` (RE2), with Go's meaning. The time to look for it grows with the
 * length of the text, never faster: no pattern and no text can stop a server.
 */
export class GoPattern {
  readonly #machine: PatternMachine;

  /** @throws PatternSyntaxError Go refuses it */
  constructor(source: string) {
    this.#machine = new PatternMachine(parsePattern(source));
  }

  /** Whether it is somewhere in a text. */
  test(text: string): boolean {
    return this.#machine.find(pointsOf(text), 0, true) !== undefined;
  }

  /** The first part of a text that matches; undefined: none. */
  find(text: string): string | undefined {
    return this.findAll(text, 1)[0];
  }

  /** The parts of a text that match and do not overlap. @param limit - how many are enough */
  findAll(text: string, limit = Infinity): string[] {
    const points = pointsOf(text);
    const all: string[] = [];
    let [at, lastEnd] = [0, -1];
    while (at <= points.length && all.length < limit) {
      const found = this.#machine.find(points, at);
      if (found === undefined) break;
      const { start, end } = found;
      // Nothing, right after something, does not count.
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

// Compiled patterns, by their source; few are ever used in one process, and none is written into.
const compiled = new Map<string, GoPattern | PatternSyntaxError>();
const mostCompiled = 1000;

/** A compiled pattern, or what Go says is wrong with it. */
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
