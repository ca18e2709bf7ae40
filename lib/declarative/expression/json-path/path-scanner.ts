import { PathSyntaxError } from './path-syntax.js';

const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  '/': '/',
  '\\': '\\',
  "'": "'",
  '"': '"',
};

/** Reads a JSONPath from left to right, character by character. */
export class PathScanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Whether the scanner is at the end. */
  get atEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** The next character; empty at the end. */
  get next(): string {
    return this.#text.charAt(this.#at);
  }

  /** Consumes `wanted` if it comes next. */
  take(wanted: string): boolean {
    if (!this.#text.startsWith(wanted, this.#at)) return false;
    this.#at += wanted.length;
    return true;
  }

  /** Consumes the match of `pattern` (sticky) at the current position. */
  takeMatch(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [match] = pattern.exec(this.#text) ?? [];
    this.#at += match?.length ?? 0;
    return match;
  }

  /** Consumes `wanted` after blanks. @throws PathSyntaxError other text comes next */
  expect(wanted: string): void {
    this.skipBlanks();
    if (!this.take(wanted)) this.fail(`wants ${wanted}`);
  }

  /** Consumes blanks, tabs and line ends. */
  skipBlanks(): void {
    this.takeMatch(/[ \t\n\r]*/y);
  }

  /** Consumes a text in single or double quotes. @throws PathSyntaxError the closing quote is missing */
  takeQuoted(): string {
    const start = this.#at;
    const quote = this.next;
    this.#at += 1;
    let text = '';
    while (!this.take(quote)) {
      if (this.atEnd) {
        this.#at = start;
        this.fail(`the text that begins here wants a ${quote} at its end`);
      }
      text += this.take('\\') ? this.#takeEscape() : this.#takeAny();
    }
    return text;
  }

  /** @throws PathSyntaxError always */
  fail(message: string): never {
    throw new PathSyntaxError(message, this.#at + 1);
  }

  #takeAny(): string {
    const character = this.next;
    this.#at += 1;
    return character;
  }

  #takeEscape(): string {
    const code = this.takeMatch(/u[0-9A-Fa-f]{4}/y);
    if (code !== undefined) return String.fromCharCode(parseInt(code.slice(1), 16));
    const escaped = Object.hasOwn(escapes, this.next) ? escapes[this.next] : undefined;
    if (escaped === undefined) this.fail(`\\${this.next} is no escape`);
    this.#at += 1;
    return escaped;
  }
}
