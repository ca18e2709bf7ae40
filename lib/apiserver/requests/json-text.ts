/** The token that the parser expects next. */
type Expected = 'value' | 'item' | 'key' | 'name' | 'colon' | 'rest';

const literals = { t: 'true', f: 'false', n: 'null' } as const;

/**
 * Returns the problem of a text that is not JSON, as the message of Go's decoder. The message names the first
 * unexpected character and the token before it.
 */
export function jsonProblem(text: string): string {
  return new ProblemFinder(text).find() ?? 'unexpected end of JSON input';
}

class ProblemFinder {
  readonly #text: string;
  readonly #open: string[] = [];
  #at = 0;
  #expected: Expected = 'value';

  constructor(text: string) {
    // Go appends a blank to the input. Go's message about a truncated number or literal shows this blank.
    this.#text = `${text} `;
  }

  find(): string | undefined {
    for (;;) {
      while (/[ \t\r\n]/.test(this.#char())) this.#at++;
      if (this.#at >= this.#text.length) return undefined;
      const problem = this.#step(this.#char());
      if (problem !== undefined) return problem;
    }
  }

  #char(): string {
    return this.#text.charAt(this.#at);
  }

  #step(char: string): string | undefined {
    switch (this.#expected) {
      case 'item':
        return char === ']' ? this.#close() : this.#value(char);
      case 'value':
        return this.#value(char);
      case 'key':
        return char === '}' ? this.#close() : this.#name(char);
      case 'name':
        return this.#name(char);
      case 'colon':
        return char === ':' ? this.#next('value') : this.#invalid('after object key');
      case 'rest':
        return this.#afterValue(char);
    }
  }

  #next(expected: Expected): string | undefined {
    this.#at++;
    this.#expected = expected;
    return undefined;
  }

  #invalid(where: string): string {
    const [byte = 0] = Buffer.from(this.#char());
    // Go's decoder reads bytes.
    const char = byte < 0x80 ? this.#char() : String.fromCharCode(byte);
    const shown = char === "'" ? "\\'" : char === '"' ? '"' : JSON.stringify(char).slice(1, -1);
    return `invalid character '${shown}' ${where}`;
  }

  #close(): string | undefined {
    this.#open.pop();
    return this.#next('rest');
  }

  #afterValue(char: string): string | undefined {
    const container = this.#open.at(-1);
    if (container === undefined) return this.#invalid('after top-level value');
    if (char === ',') return this.#next(container === '{' ? 'name' : 'value');
    if (char === (container === '{' ? '}' : ']')) return this.#close();
    const after = container === '{' ? 'object key:value pair' : 'array element';
    return this.#invalid(`after ${after}`);
  }

  #name(char: string): string | undefined {
    if (char !== '"') return this.#invalid('looking for beginning of object key string');
    return this.#string('colon');
  }

  #value(char: string): string | undefined {
    if (char === '{' || char === '[') {
      this.#open.push(char);
      return this.#next(char === '{' ? 'key' : 'item');
    }
    if (char === '"') return this.#string('rest');
    if (char === 't' || char === 'f' || char === 'n') return this.#literal(literals[char]);
    if (/[-\d]/.test(char)) return this.#number();
    return this.#invalid('looking for beginning of value');
  }

  #literal(word: string): string | undefined {
    for (const expected of word) {
      if (this.#char() !== expected) {
        return this.#invalid(`in literal ${word} (expecting '${expected}')`);
      }
      this.#at++;
    }
    this.#expected = 'rest';
    return undefined;
  }

  #number(): string | undefined {
    if (this.#char() === '-') this.#at++;
    if (!/\d/.test(this.#char())) return this.#invalid('in numeric literal');
    if (this.#char() === '0') this.#at++;
    else this.#digits();
    if (this.#char() === '.') {
      this.#at++;
      if (!/\d/.test(this.#char())) return this.#invalid('after decimal point in numeric literal');
      this.#digits();
    }
    if (/[eE]/.test(this.#char())) {
      this.#at++;
      if (/[-+]/.test(this.#char())) this.#at++;
      if (!/\d/.test(this.#char())) return this.#invalid('in exponent of numeric literal');
      this.#digits();
    }
    this.#expected = 'rest';
    return undefined;
  }

  #digits(): void {
    while (/\d/.test(this.#char())) this.#at++;
  }

  #string(then: Expected): string | undefined {
    for (this.#at++; this.#at < this.#text.length; this.#at++) {
      const char = this.#char();
      if (char === '"') return this.#next(then);
      if (char < ' ') return this.#invalid('in string literal');
      if (char !== '\\') continue;
      this.#at++;
      const problem = this.#escape();
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /**
   * Checks an escape, and leaves the position at its last character.
   * @returns the error; undefined if the escape is valid
   */
  #escape(): string | undefined {
    if (this.#char() !== 'u') {
      return /["\\/bfnrt]/.test(this.#char()) ? undefined : this.#invalid('in string escape code');
    }
    for (let digit = 0; digit < 4; digit++) {
      this.#at++;
      if (!/[\da-fA-F]/.test(this.#char())) {
        return this.#invalid('in \\u hexadecimal character escape');
      }
    }
    return undefined;
  }
}

/** The result of a scan of a JSON text without building values. */
interface JsonScan {
  /** JSON paths of duplicate members. */
  readonly duplicates: readonly string[];
  readonly depth: number;
}

interface Level {
  /** The names so far in an object; undefined in an array. */
  readonly names: Set<string> | undefined;
  /** The path of this object or array. */
  readonly path: string;
  index: number;
  /** The member whose value is next. */
  member: string;
}

/**
 * Finds duplicate members and the depth of `text`, which must be JSON. Uses a stack of its own, because
 * recursion into deep nesting could overflow JavaScript's stack.
 */
export function scanJson(text: string): JsonScan {
  const duplicates: string[] = [];
  const levels: Level[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const level = levels.at(-1);
    if (code === 0x22) {
      const end = endOfString(text, at);
      if (level?.names !== undefined && isName(text, end)) {
        enterMember(level, text.slice(at, end + 1), duplicates);
      }
      at = end;
    } else if (code === 0x7b || code === 0x5b) {
      const names = code === 0x7b ? new Set<string>() : undefined;
      levels.push({ names, path: level === undefined ? '' : pathIn(level), index: 0, member: '' });
      depth = Math.max(depth, levels.length);
    } else if (code === 0x7d || code === 0x5d) {
      levels.pop();
    } else if (code === 0x2c && level !== undefined) {
      level.index++;
    }
  }
  return { duplicates, depth };
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; ;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return quote;
    at = quote + 1;
  }
}

function isName(text: string, end: number): boolean {
  let at = end + 1;
  while (text.charCodeAt(at) <= 0x20) at++;
  return text.charCodeAt(at) === 0x3a;
}

function enterMember(level: Level, quotedName: string, duplicates: string[]): void {
  const name = quotedName.includes('\\')
    ? (JSON.parse(quotedName) as string)
    : quotedName.slice(1, -1);
  level.member = name;
  if (level.names?.has(name) === true) duplicates.push(pathIn(level));
  level.names?.add(name);
}

function pathIn({ names, path, index, member }: Level): string {
  if (names === undefined) return `${path}[${index}]`;
  return path === '' ? member : `${path}.${member}`;
}
