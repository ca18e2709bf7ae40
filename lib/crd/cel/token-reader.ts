import { ParserLimit, SyntaxIssue } from './expression.js';
import type { CelIssue } from './expression.js';
import type { Token } from './tokens.js';

/** The tokens that start an operand, as the messages of the real parser list them. */
const tail = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** The tokens that the grammar accepts at a place, and the closing token among them. */
const places = {
  operand: { expected: `{'[', '{', '(', '.', '-', '!', ${tail}`, close: undefined },
  argument: { expected: `{'[', '{', '(', ')', '.', '-', '!', ${tail}`, close: ')' },
  index: { expected: `{'[', '{', '(', '.', '-', '!', '?', ${tail}`, close: undefined },
  ']': { expected: `{'[', ']', '{', '(', '.', ',', '-', '!', '?', ${tail}`, close: ']' },
  '}': { expected: `{'[', '{', '}', '(', '.', ',', '-', '!', '?', ${tail}`, close: '}' },
} as const;

/** Maximum number of errors after which the real parser still continues. */
const mostRecoveries = 30;

/** Number of tokens that the real parser skips after an error before it continues. */
const mostSkipped = 256;

const starts: ReadonlySet<string> = new Set(['[', '{', '(', '.', '-', '!']);

const operators: ReadonlySet<string> = new Set([
  ...['||', '&&', '==', '!=', '<', '<=', '>', '>=', '+', '-', '*', '/', '%', '?'],
]);

/**
 * The tokens of an expression. The errors are those of the real parser. After an error, that parser continues: it skips
 * one token, or all tokens up to an operator or the end of an enclosing list. It reports no other error until it has
 * consumed a token.
 */
export class TokenReader {
  /** The code points of the source. */
  readonly #characters: readonly string[];
  readonly #tokens: readonly Token[];
  readonly #issues: CelIssue[];
  /** The tokens that end the enclosing lists, calls and conditionals. */
  readonly #ends: string[] = [];
  #next = 0;
  #recoveries = 0;
  #isFailing = false;

  constructor(source: string, tokens: readonly Token[], issues: CelIssue[]) {
    this.#characters = Array.from(source);
    this.#tokens = tokens;
    this.#issues = issues;
  }

  get current(): Token {
    return this.#at(this.#next);
  }

  is(text: string): boolean {
    return isText(this.current, text);
  }

  /** Returns whether the current token starts an operand. */
  isStart(): boolean {
    return startsAt(this.current);
  }

  advance(): void {
    this.#next++;
    this.#isFailing = false;
  }

  /** Consumes the token if it is `text`. @returns the token's offset */
  take(text: string): number | undefined {
    if (!this.is(text)) return undefined;
    const { at } = this.current;
    this.advance();
    return at;
  }

  /**
   * Consumes the token `text`. If there is one other token before it, or the token is missing, reports this and
   * continues.
   */
  need(text: string): void {
    if (this.take(text) !== undefined) return;
    this.#countRecovery(this.current.at);
    if (isText(this.#at(this.#next + 1), text)) {
      this.#report(`extraneous input '${this.current.text}' expecting '${text}'`);
      this.#next++;
      this.advance();
      return;
    }
    // A comma may follow a missing parenthesis. After a missing end of a list, it would belong to the list.
    const isEnd = this.#isEnd() && (text === ')' || !this.is(','));
    const isNext = text === ':' ? this.isStart() : isEnd;
    if (!isNext) this.stop(`'${text}'`);
    this.#report(`missing '${text}' at '${this.current.text}'`);
  }

  /**
   * Checks that the current token is one of `texts`. If the current token is not, but the next one is,
   * reports the current token and skips it.
   * @throws SyntaxIssue
   */
  needOneOf(texts: readonly string[]): void {
    const isOneOf = (token: Token): boolean => texts.some((text) => isText(token, text));
    if (isOneOf(this.current)) return;
    const expected = `{${texts.map((text) => `'${text}'`).join(', ')}}`;
    if (!isOneOf(this.#at(this.#next + 1))) this.stop(expected);
    this.#report(`extraneous input '${this.current.text}' expecting ${expected}`);
    this.#next++;
  }

  needEnd(): void {
    if (this.current.type === 'end') return;
    const isOne = this.#at(this.#next + 1).type === 'end';
    const problem = isOne ? 'extraneous' : 'mismatched';
    this.#report(`${problem} input '${this.current.text}' expecting <EOF>`);
  }

  /** Returns whether an operand starts at the current token, or after one unexpected token. */
  startsOperand(place: keyof typeof places): boolean {
    if (this.isStart()) return true;
    const { expected, close } = places[place];
    const after = this.#at(this.#next + 1);
    const isExtraneous = startsAt(after) || (close !== undefined && isText(after, close));
    const problem = isExtraneous ? 'extraneous' : 'mismatched';
    this.#report(`${problem} input '${this.current.text}' expecting ${expected}`);
    if (isExtraneous) this.#next++;
    return isExtraneous && startsAt(after);
  }

  /** Reports a token after a dot that is not a field name, and continues. */
  failAfterDot(dot: number, optional: boolean): void {
    const { at, text, type } = this.current;
    if (optional) {
      this.#report(`mismatched input '${text}' expecting {IDENTIFIER, ESC_IDENTIFIER}`);
      this.#issues.push({ at, message: 'unsupported ident kind' });
    } else if (type === 'identifier' && text !== 'in') {
      this.#report(`mismatched input '${text}' expecting IDENTIFIER`);
    } else {
      if (!this.#isFailing) this.#addNoAlternative(dot);
      this.#isFailing = true;
      this.recover(this.#next - 1);
      return;
    }
    this.recover();
  }

  /**
   * Skips tokens up to one that can follow an operand.
   * @param first - the token at which the real parser begins to skip
   * @throws ParserLimit
   */
  recover(first = this.#next): void {
    const { at } = this.#at(first);
    this.#countRecovery(at);
    while (!this.#isEnd()) {
      this.#next++;
      if (this.#next - first <= mostSkipped) continue;
      const message = `error recovery token lookahead limit exceeded: ${mostSkipped}`;
      throw new ParserLimit({ at: -1, message }, this.current.at);
    }
  }

  /** @throws ParserLimit */
  #countRecovery(at: number): void {
    if (this.#recoveries++ < mostRecoveries) return;
    const message = `Syntax error: error recovery attempt limit exceeded: ${mostRecoveries}`;
    throw new ParserLimit({ at, message }, this.current.at);
  }

  /** Ends the parse at the current token, with the last error or a new one. @throws SyntaxIssue */
  stop(expected: string): never {
    const { at, text } = this.current;
    const isKnown = this.#isFailing || this.#issues.at(-1)?.at === at;
    if (!isKnown) this.#report(`mismatched input '${text}' expecting ${expected}`);
    return this.end();
  }

  /** Ends the parse with the last error. @throws SyntaxIssue */
  end(): never {
    throw new SyntaxIssue(this.#issues.at(-1) ?? { at: this.current.at, message: 'Syntax error' });
  }

  /** Returns whether an operand follows a sign, and if not, reports that. */
  checkSigned(sign: '!' | '-'): boolean {
    const { type, text } = this.current;
    if (sign === '-') {
      if (!this.isStart() || text === '!') this.#addNoAlternative(this.#at(this.#next - 1).at);
      if (text === '!') this.end();
    } else if (type === 'end') {
      this.#report(`extraneous input '${text}' expecting ${places.operand.expected}`);
    } else if (text === '-') {
      this.advance();
      this.#addNoAlternative(this.#at(this.#next - 1).at);
      this.end();
    }
    if (this.startsOperand('operand')) return true;
    this.recover();
    return false;
  }

  /** Reports the current token with those before it since `start`. */
  #addNoAlternative(start: number): void {
    const { at, text, type } = this.current;
    const before = this.#characters.slice(start, at).join('');
    const input = type === 'end' ? before.trimEnd() : before + text;
    this.#issues.push({ at, message: `Syntax error: no viable alternative at input '${input}'` });
  }

  /** Runs `parse` where the tokens `ends` follow an operand. */
  inside<T>(ends: readonly string[], parse: () => T): T {
    this.#ends.push(...ends);
    const parsed = parse();
    this.#ends.length -= ends.length;
    return parsed;
  }

  #isEnd(): boolean {
    const { type, text } = this.current;
    if (type === 'end' || this.is('in')) return true;
    return type === 'symbol' && (operators.has(text) || this.#ends.includes(text));
  }

  #report(problem: string): void {
    if (!this.#isFailing) {
      this.#issues.push({ at: this.current.at, message: `Syntax error: ${problem}` });
    }
    this.#isFailing = true;
  }

  #at(index: number): Token {
    const token = this.#tokens[index] ?? this.#tokens.at(-1);
    if (token === undefined) throw new SyntaxIssue({ at: 0, message: 'Syntax error' });
    return token;
  }
}

function isText({ type, text: given }: Token, text: string): boolean {
  if (given !== text) return false;
  return type === 'symbol' || (text === 'in' && type === 'identifier');
}

function startsAt(token: Token): boolean {
  const { type, text } = token;
  if (type === 'symbol') return starts.has(text);
  return type === 'literal' || (type === 'identifier' && !token.quoted && text !== 'in');
}
