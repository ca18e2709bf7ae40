import { OperatorError } from '../system/operator-error.js';
import type { LabelOperator, LabelRequirement } from './label-selector.js';

/*
 * selector    = [ requirement *( "," requirement ) ]
 * requirement = "!" key | key [ ( "=" | "==" | "!=" | ">" | "<" ) [ value ] | ( "in" | "notin" ) set ]
 * set         = "(" [ value ] *( "," [ value ] ) ")"
 *
 * Blanks only separate tokens. `in` and `notin` are operators only in the operator's position: both are
 * valid label keys and values.
 */
type Token = { readonly type: 'word' | 'symbol' | 'end'; readonly text: string };

const tokenPattern = /[ \t\r\n]*(?:(==|!=|[=!<>(),])|([^ \t\r\n=!<>(),]+))/y;

const comparisons: Readonly<Partial<Record<string, LabelOperator>>> = {
  '=': 'In',
  '==': 'In',
  '!=': 'NotIn',
  '>': 'Gt',
  '<': 'Lt',
};

/**
 * Parses the grammar of label selectors without validating keys and values.
 * @throws OperatorError `InvalidSelector`
 */
export function parseSelectorText(text: string): LabelRequirement[] {
  return new SelectorParser(text).parse();
}

class SelectorParser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokensOf(text);
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    if (this.#peek().type === 'end') return requirements;
    do requirements.push(this.#requirement());
    while (this.#accept(','));
    if (this.#peek().type !== 'end') this.#refuse("',' or the end");
    return requirements;
  }

  #requirement(): LabelRequirement {
    if (this.#accept('!'))
      return { key: this.#word('a key'), operator: 'DoesNotExist', values: [] };
    const key = this.#word("a key or '!'");
    const next = this.#peek();
    if (next.type === 'end' || next.text === ',') return { key, operator: 'Exists', values: [] };
    this.#position++;
    if (next.text === 'in') return { key, operator: 'In', values: this.#set() };
    if (next.text === 'notin') return { key, operator: 'NotIn', values: this.#set() };
    const operator = next.type === 'symbol' ? comparisons[next.text] : undefined;
    if (operator === undefined) {
      this.#position--;
      this.#refuse('an operator (=, ==, !=, in, notin, <, >)');
    }
    return { key, operator, values: [this.#optionalWord()] };
  }

  #set(): string[] {
    if (!this.#accept('(')) this.#refuse("'('");
    const values: string[] = [];
    do values.push(this.#optionalWord());
    while (this.#accept(','));
    if (!this.#accept(')')) this.#refuse("',' or ')'");
    return values;
  }

  /** The empty string is a valid label value: `a=`, `a in (b,)`. */
  #optionalWord(): string {
    return this.#peek().type === 'word' ? this.#word('a value') : '';
  }

  #word(wanted: string): string {
    const token = this.#peek();
    if (token.type !== 'word') this.#refuse(wanted);
    this.#position++;
    return token.text;
  }

  #accept(symbol: string): boolean {
    const token = this.#peek();
    const found = token.type === 'symbol' && token.text === symbol;
    if (found) this.#position++;
    return found;
  }

  #peek(): Token {
    return this.#tokens[this.#position] ?? { type: 'end', text: '' };
  }

  #refuse(wanted: string): never {
    const { type, text } = this.#peek();
    const found = type === 'end' ? 'the end' : `'${text}'`;
    const message = `label selector ${this.#text}: found ${found}, want ${wanted}`;
    throw new OperatorError('InvalidSelector', message);
  }
}

// Every character except blanks belongs to a token, so only trailing blanks are skipped.
function tokensOf(text: string): Token[] {
  return [...text.matchAll(new RegExp(tokenPattern, 'gy'))].map(([, symbol, word = '']) =>
    symbol === undefined ? { type: 'word', text: word } : { type: 'symbol', text: symbol },
  );
}
