import { CelCompileError, ParserLimit, qualifiedName, SyntaxIssue } from './expression.js';
import type {
  CallExpression,
  CelIssue,
  Expression,
  ListElement,
  MapEntry,
  StructField,
} from './expression.js';
import { expandMacro } from './macros.js';
import { TokenReader } from './token-reader.js';
import { tokensOf } from './tokens.js';
import type { Token } from './tokens.js';

/** Maximum nesting depth, as on the API server. */
const deepest = 250;

const reserved = new Set([
  ...['as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import', 'let'],
  ...['loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
]);

/** Parses an expression to a syntax tree. @throws CelCompileError */
export function parseExpression(source: string): Expression {
  const issues: CelIssue[] = [];
  try {
    checkSize(source);
    const tokens = new TokenReader(source, tokensOf(source, issues), issues);
    const expression = new Parser(tokens, issues).whole();
    if (issues.length === 0) return expression;
  } catch (error) {
    if (!(error instanceof SyntaxIssue)) throw error;
    const { issue } = error;
    if (error instanceof ParserLimit) {
      const before = issues.filter((one) => isSyntax(one) && one.at <= error.until);
      throw new CelCompileError(source, [...syntaxErrors(before), issue]);
    }
    if (!issues.includes(issue)) issues.push(issue);
  }
  const syntax = syntaxErrors(issues);
  // The real parser looks for problems other than syntax last, and not at all after too many errors of syntax.
  const others = syntax.length > mostSyntaxErrors ? [] : issues.filter((one) => !isSyntax(one));
  throw new CelCompileError(source, [...syntax, ...others]);
}

/** Maximum length in code points, as on the API server. */
const longest = 100_000;

/** @throws ParserLimit */
function checkSize(source: string): void {
  const size = Array.from(source).length;
  if (size <= longest) return;
  const message = `expression code point size exceeds limit: size: ${size}, limit ${longest}`;
  throw new ParserLimit({ at: -1, message }, 0);
}

/** Number of errors of syntax after which the real parser ends. */
const mostSyntaxErrors = 100;

/** Returns the syntax errors in source order. After the first 100, one error says that there are more. */
function syntaxErrors(issues: readonly CelIssue[]): CelIssue[] {
  const found = issues.filter(isSyntax).sort((one, other) => one.at - other.at);
  const next = found[mostSyntaxErrors];
  if (next === undefined) return found;
  const message = `Syntax error: More than ${mostSyntaxErrors} syntax errors`;
  return [...found.slice(0, mostSyntaxErrors), { at: next.at, message }];
}

function isSyntax({ message }: CelIssue): boolean {
  return message.startsWith('Syntax error: ');
}

// Operators by precedence, lowest first.
const levels: readonly ReadonlyMap<string, string>[] = [
  new Map([['||', '_||_']]),
  new Map([['&&', '_&&_']]),
  new Map([
    ...(['==', '!=', '<', '<=', '>', '>='] as const).map((sign) => [sign, `_${sign}_`] as const),
    ['in', '@in'],
  ]),
  new Map([
    ['+', '_+_'],
    ['-', '_-_'],
  ]),
  new Map([
    ['*', '_*_'],
    ['/', '_/_'],
    ['%', '_%_'],
  ]),
];

/** An operator and its right operand. */
interface Link {
  readonly at: number;
  readonly name: string;
  readonly operand: Expression;
}

function chained(first: Expression, links: readonly Link[]): Expression {
  return links.reduce<Expression>(
    (left, { at, name, operand }) => call(at, name, [left, operand]),
    first,
  );
}

function call(at: number, name: string, args: readonly Expression[]): Expression {
  return { type: 'call', at, name, target: undefined, args };
}

/** Longer chains of `&&` and `||` become balanced trees to limit the depth. */
const longestChain = 100;

function balanced(first: Expression, links: readonly Link[]): Expression {
  if (links.length <= longestChain) return chained(first, links);
  const middle = Math.floor(links.length / 2);
  const { at, name, operand } = links[middle] as Link;
  const left = balanced(first, links.slice(0, middle));
  return call(at, name, [left, balanced(operand, links.slice(middle + 1))]);
}

class Parser {
  readonly #tokens: TokenReader;
  readonly #issues: CelIssue[];
  #depth = 0;

  /** @param issues - Receives the errors after which the parser continues. */
  constructor(tokens: TokenReader, issues: CelIssue[]) {
    this.#tokens = tokens;
    this.#issues = issues;
  }

  whole(): Expression {
    const expression = this.#expression();
    this.#tokens.needEnd();
    return expression;
  }

  #expression(): Expression {
    if (++this.#depth > deepest) {
      const message = `expression recursion limit exceeded: ${deepest}`;
      const { at } = this.#tokens.current;
      throw new ParserLimit({ at: -1, message }, at);
    }
    const condition = this.#binary(0);
    const at = this.#tokens.take('?');
    if (at === undefined) {
      this.#depth--;
      return condition;
    }
    const yes = this.#tokens.inside([':'], () => this.#binary(0));
    this.#tokens.need(':');
    const no = this.#expression();
    this.#depth--;
    return { type: 'call', at, name: '_?_:_', target: undefined, args: [condition, yes, no] };
  }

  #binary(level: number): Expression {
    const operators = levels[level];
    if (operators === undefined) return this.#unary();
    const first = this.#binary(level + 1);
    const links: Link[] = [];
    for (;;) {
      const { text, at } = this.#tokens.current;
      const name = this.#tokens.is(text) ? operators.get(text) : undefined;
      if (name === undefined) return level < 2 ? balanced(first, links) : chained(first, links);
      this.#tokens.advance();
      links.push({ at, name, operand: this.#binary(level + 1) });
    }
  }

  #unary(): Expression {
    const start = this.#tokens.current.at;
    if (!this.#tokens.startsOperand('operand')) {
      this.#tokens.recover();
      return missing(start);
    }
    for (const [sign, name] of [
      ['!', '!_'],
      ['-', '-_'],
    ] as const) {
      const at = this.#tokens.take(sign);
      if (at === undefined) continue;
      let count = 1;
      while (this.#tokens.take(sign) !== undefined) count++;
      if (!this.#tokens.checkSigned(sign)) return missing(at);
      const literal = sign === '-' && count === 1 ? this.#negative(at) : undefined;
      const operand = literal === undefined ? this.#member(this.#primary()) : this.#member(literal);
      if (literal !== undefined || count % 2 === 0) return operand;
      return { type: 'call', at, name, target: undefined, args: [operand] };
    }
    return this.#member(this.#primary());
  }

  /** Parses a minus sign as part of the number that follows. */
  #negative(at: number): Expression | undefined {
    const token = this.#tokens.current;
    if (token.type !== 'literal') return undefined;
    const { value } = token;
    if (typeof value !== 'bigint' && typeof value !== 'number') return undefined;
    this.#tokens.advance();
    return { type: 'literal', at, value: -value };
  }

  #member(start: Expression): Expression {
    let operand = start;
    for (;;) {
      const dot = this.#tokens.take('.');
      if (dot !== undefined) {
        operand = this.#field(operand, dot);
        continue;
      }
      const bracket = this.#tokens.take('[');
      if (bracket === undefined) return operand;
      const optional = this.#tokens.take('?') !== undefined;
      const target = operand;
      const index = this.#tokens.inside([']'], () =>
        this.#operandAt(optional ? 'operand' : 'index'),
      );
      this.#tokens.need(']');
      const name = optional ? '_[?_]' : '_[_]';
      operand = { type: 'call', at: bracket, name, target: undefined, args: [target, index] };
    }
  }

  #field(operand: Expression, at: number): Expression {
    const optional = this.#tokens.take('?') !== undefined;
    const token = this.#tokens.current;
    if (!isName(token)) {
      this.#tokens.failAfterDot(at, optional);
      return operand;
    }
    const { text, quoted } = token;
    if (quoted) throw new SyntaxIssue({ at: token.at, message: "unsupported syntax: '`'" });
    this.#tokens.advance();
    const field = text;
    if (optional) return { type: 'select', at, operand, field, mode: 'optional' };
    const open = this.#tokens.take('(');
    if (open === undefined) {
      const select = { type: 'select', at, operand, field, mode: 'value' } as const;
      const name = this.#tokens.is('{') ? qualifiedName(select) : undefined;
      return (name === undefined ? undefined : this.#struct(name)) ?? select;
    }
    return this.#called({ at: open, name: field, target: operand }) ?? operand;
  }

  /** Parses the arguments of a call; undefined if something else follows the parenthesis. */
  #called(callee: Pick<CallExpression, 'at' | 'name' | 'target'>): Expression | undefined {
    const start = this.#tokens.current.at;
    const before = this.#issues.length;
    const args = this.#args();
    if (args === undefined) return undefined;
    try {
      return expandMacro({ type: 'call', ...callee, args });
    } catch (error) {
      if (!(error instanceof SyntaxIssue)) throw error;
      const { at, message } = error.issue;
      // The real parser shows the start of an argument that it could not parse.
      this.#issues.push({ at: before < this.#issues.length ? start : at, message });
      return missing(start);
    }
  }

  /** Parses arguments up to the closing parenthesis. */
  #args(): Expression[] | undefined {
    const args: Expression[] = [];
    if (this.#tokens.take(')') !== undefined) return args;
    if (!this.#tokens.startsOperand('argument')) {
      return this.#tokens.take(')') === undefined ? undefined : args;
    }
    this.#tokens.inside([')', ','], () => {
      do args.push(this.#expression());
      while (this.#tokens.take(',') !== undefined);
    });
    this.#tokens.need(')');
    return args;
  }

  /**
   * Parses the index in brackets. If it is missing, reports an error and returns the expression of a missing operand.
   */
  #operandAt(place: 'operand' | 'index'): Expression {
    const { at } = this.#tokens.current;
    if (this.#tokens.startsOperand(place)) return this.#expression();
    this.#tokens.recover();
    return missing(at);
  }

  #primary(): Expression {
    const token = this.#tokens.current;
    if (token.type === 'literal') return this.#literal(token);
    if (token.type === 'identifier' && this.#tokens.isStart()) return this.#name('', token.at);
    const dot = this.#tokens.take('.');
    if (dot !== undefined) {
      if (isName(this.#tokens.current)) return this.#name('.', dot);
      this.#tokens.failAfterDot(dot, false);
      return missing(dot);
    }
    if (this.#tokens.take('(') !== undefined) {
      const inner = this.#tokens.inside([')'], () => this.#expression());
      this.#tokens.need(')');
      return inner;
    }
    const bracket = this.#tokens.take('[');
    if (bracket !== undefined) return this.#list(bracket);
    const brace = this.#tokens.take('{');
    return brace === undefined ? this.#tokens.end() : this.#map(brace);
  }

  #literal(token: Extract<Token, { type: 'literal' }>): Expression {
    this.#tokens.advance();
    const { at, value } = token;
    if (typeof value === 'bigint' && value === 2n ** 63n) {
      throw new SyntaxIssue({ at, message: 'invalid int literal' });
    }
    return { type: 'literal', at, value };
  }

  #name(prefix: string, start: number): Expression {
    const { text, at } = this.#tokens.current;
    this.#tokens.advance();
    if (prefix === '' && text === 'true') return { type: 'literal', at, value: true };
    if (prefix === '' && text === 'false') return { type: 'literal', at, value: false };
    if (prefix === '' && text === 'null') return { type: 'literal', at, value: null };
    if (reserved.has(text)) {
      this.#issues.push({ at: start, message: `reserved identifier: ${text}` });
      return missing(at);
    }
    const open = this.#tokens.take('(');
    const name = { type: 'identifier', at, name: text } as const;
    if (open === undefined) return this.#struct(text) ?? name;
    return this.#called({ at: open, name: text, target: undefined }) ?? name;
  }

  /** Parses `{field: value, …}` after the name of a type. */
  #struct(name: string): Expression | undefined {
    const at = this.#tokens.take('{');
    if (at === undefined) return undefined;
    const fields: StructField[] = [];
    if (this.#tokens.take('}') !== undefined) return { type: 'struct', at, name, fields };
    this.#tokens.inside(['}', ','], () => {
      do {
        const optional = this.#tokens.take('?') !== undefined;
        const field = this.#tokens.current;
        if (field.type !== 'identifier') {
          this.#tokens.stop("{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}");
        }
        this.#tokens.advance();
        const { at } = this.#tokens.current;
        this.#tokens.need(':');
        fields.push({ at, name: field.text, optional, value: this.#expression() });
      } while (this.#hasMore('}'));
    });
    return { type: 'struct', at, name, fields };
  }

  #list(at: number): Expression {
    const elements: ListElement[] = [];
    if (!this.#hasItems(']')) return { type: 'list', at, elements };
    this.#tokens.inside([']', ','], () => {
      do {
        const optional = this.#tokens.take('?') !== undefined;
        elements.push({ optional, value: this.#expression() });
      } while (this.#hasMore(']'));
    });
    return { type: 'list', at, elements };
  }

  #map(at: number): Expression {
    const entries: MapEntry[] = [];
    if (!this.#hasItems('}')) return { type: 'map', at, entries };
    this.#tokens.inside(['}', ','], () => {
      do {
        const optional = this.#tokens.take('?') !== undefined;
        const key = this.#tokens.inside([':'], () => this.#expression());
        this.#tokens.need(':');
        entries.push({ optional, key, value: this.#expression() });
      } while (this.#hasMore('}'));
    });
    return { type: 'map', at, entries };
  }

  /** Returns whether a list or map has items. If it has none, takes the closing token, if there is one. */
  #hasItems(close: ']' | '}'): boolean {
    if (this.#tokens.is('?')) return true;
    if (this.#tokens.take(close) !== undefined) return false;
    if (this.#tokens.take(',') !== undefined) {
      this.#tokens.need(close);
      return false;
    }
    if (this.#tokens.startsOperand(close)) return true;
    this.#tokens.take(close);
    return false;
  }

  /** Takes the token after an item, and returns whether another item follows. A trailing comma is valid. */
  #hasMore(close: ']' | '}'): boolean {
    this.#tokens.needOneOf([close, ',']);
    if (this.#tokens.take(close) !== undefined) return false;
    this.#tokens.take(',');
    if (this.#tokens.is('?') || this.#tokens.isStart()) return true;
    this.#tokens.need(close);
    return false;
  }
}

/** Stands for an operand that is not there, after an error. */
function missing(at: number): Expression {
  return { type: 'literal', at, value: null };
}

/** Words of the grammar that look like names. */
const literalWords = ['true', 'false', 'null', 'in'];

function isName(token: Token): token is Extract<Token, { type: 'identifier' }> {
  return token.type === 'identifier' && !literalWords.includes(token.text);
}
