import { CelCompileError, qualifiedName, SyntaxIssue } from './expression.js';
import type {
  CallExpression,
  ComprehensionExpression,
  ComprehensionMacro,
  Expression,
  ListElement,
  MapEntry,
  StructField,
} from './expression.js';
import { tokensOf } from './tokens.js';
import type { Token } from './tokens.js';

/** Maximum nesting depth, as on the API server. */
const deepest = 250;

const reserved = new Set([
  ...['as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import', 'let'],
  ...['loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
]);

/** Words of the grammar that look like names. */
const literalWords = ['true', 'false', 'null', 'in'];

/**
 * Parses an expression to a syntax tree.
 * @throws CelCompileError
 */
export function parseExpression(source: string): Expression {
  try {
    return new Parser(tokensOf(source)).whole();
  } catch (error) {
    if (error instanceof SyntaxIssue) throw new CelCompileError(source, [error.issue]);
    throw error;
  }
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
  const link = links[middle];
  if (link === undefined) return first;
  const { at, name, operand } = link;
  const left = balanced(first, links.slice(0, middle));
  return call(at, name, [left, balanced(operand, links.slice(middle + 1))]);
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Expression {
    const expression = this.#expression();
    if (this.#token.type !== 'end') this.#fail();
    return expression;
  }

  get #token(): Token {
    const token = this.#tokens[this.#next] ?? this.#tokens.at(-1);
    if (token === undefined) throw new SyntaxIssue({ at: 0, message: 'Syntax error' });
    return token;
  }

  #is(text: string): boolean {
    const { type, text: given } = this.#token;
    if (given !== text) return false;
    return type === 'symbol' || (text === 'in' && type === 'identifier');
  }

  /**
   * Consumes the token if it is `text`.
   * @returns the token's offset
   */
  #take(text: string): number | undefined {
    if (!this.#is(text)) return undefined;
    const { at } = this.#token;
    this.#next++;
    return at;
  }

  #need(text: string): number {
    return this.#take(text) ?? this.#fail(`'${text}'`);
  }

  #fail(expected?: string): never {
    const { at, text } = this.#token;
    const wanted = expected === undefined ? '' : ` expecting ${expected}`;
    const message = `Syntax error: mismatched input '${text}'${wanted}`;
    throw new SyntaxIssue({ at, message });
  }

  /** Fails at a token that is no name of a field: the real parser may look two tokens ahead here. */
  #failAfterDot(optional: boolean): never {
    if (optional) return this.#fail('IDENTIFIER');
    const { at, text, type } = this.#token;
    const input = type === 'end' ? '.' : `.${text}`;
    throw new SyntaxIssue({
      at,
      message: `Syntax error: no viable alternative at input '${input}'`,
    });
  }

  #expression(): Expression {
    if (++this.#depth > deepest) {
      const message = `expression recursion limit exceeded: ${deepest}`;
      throw new SyntaxIssue({ at: this.#token.at, message });
    }
    const condition = this.#binary(0);
    const at = this.#take('?');
    if (at === undefined) {
      this.#depth--;
      return condition;
    }
    const yes = this.#binary(0);
    this.#need(':');
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
      const { text, at } = this.#token;
      const name = this.#is(text) ? operators.get(text) : undefined;
      if (name === undefined) return level < 2 ? balanced(first, links) : chained(first, links);
      this.#next++;
      links.push({ at, name, operand: this.#binary(level + 1) });
    }
  }

  #unary(): Expression {
    for (const [sign, name] of [
      ['!', '!_'],
      ['-', '-_'],
    ] as const) {
      const at = this.#take(sign);
      if (at === undefined) continue;
      let count = 1;
      while (this.#take(sign) !== undefined) count++;
      const literal = sign === '-' && count === 1 ? this.#negative(at) : undefined;
      const operand = literal === undefined ? this.#member(this.#primary()) : this.#member(literal);
      if (literal !== undefined || count % 2 === 0) return operand;
      return { type: 'call', at, name, target: undefined, args: [operand] };
    }
    return this.#member(this.#primary());
  }

  /** Parses a minus sign as part of the number that follows. */
  #negative(at: number): Expression | undefined {
    const token = this.#token;
    if (token.type !== 'literal') return undefined;
    const { value } = token;
    if (typeof value !== 'bigint' && typeof value !== 'number') return undefined;
    this.#next++;
    return { type: 'literal', at, value: -value };
  }

  #member(start: Expression): Expression {
    let operand = start;
    for (;;) {
      const dot = this.#take('.');
      if (dot !== undefined) {
        operand = this.#field(operand, dot);
        continue;
      }
      const bracket = this.#take('[');
      if (bracket === undefined) return operand;
      const optional = this.#take('?') !== undefined;
      const args = [operand, this.#expression()];
      this.#need(']');
      const name = optional ? '_[?_]' : '_[_]';
      operand = { type: 'call', at: bracket, name, target: undefined, args };
    }
  }

  #field(operand: Expression, at: number): Expression {
    const optional = this.#take('?') !== undefined;
    const token = this.#token;
    // Words such as `true` and `in` are reserved.
    const isName = token.type === 'identifier' && !literalWords.includes(token.text);
    if (!isName) this.#failAfterDot(optional);
    const { text, quoted } = token;
    if (quoted) throw new SyntaxIssue({ at: token.at, message: "unsupported syntax: '`'" });
    this.#next++;
    const field = text;
    if (optional) return { type: 'select', at, operand, field, mode: 'optional' };
    const open = this.#take('(');
    if (open === undefined) {
      const select = { type: 'select', at, operand, field, mode: 'value' } as const;
      const name = qualifiedName(select);
      return (name === undefined ? undefined : this.#struct(name)) ?? select;
    }
    return expandMacro({
      type: 'call',
      at: open,
      name: field,
      target: operand,
      args: this.#args(),
    });
  }

  /** Parses arguments up to the closing parenthesis. */
  #args(): Expression[] {
    const args: Expression[] = [];
    while (this.#take(')') === undefined) {
      if (args.length > 0) this.#need(',');
      args.push(this.#expression());
    }
    return args;
  }

  #primary(): Expression {
    const token = this.#token;
    if (token.type === 'literal') return this.#literal(token);
    if (token.type === 'identifier' && !token.quoted && token.text !== 'in') return this.#name('');
    if (this.#take('.') !== undefined) return this.#name('.');
    if (this.#take('(') !== undefined) {
      const inner = this.#expression();
      this.#need(')');
      return inner;
    }
    if (this.#is('[')) return this.#list();
    if (this.#is('{')) return this.#map();
    return this.#fail();
  }

  #literal(token: Extract<Token, { type: 'literal' }>): Expression {
    this.#next++;
    const { at, value } = token;
    if (typeof value === 'bigint' && value === 2n ** 63n) {
      throw new SyntaxIssue({ at, message: 'invalid int literal' });
    }
    return { type: 'literal', at, value };
  }

  #name(prefix: string): Expression {
    const { text, at, type } = this.#token;
    if (type !== 'identifier') this.#fail('IDENTIFIER');
    this.#next++;
    if (prefix === '' && text === 'true') return { type: 'literal', at, value: true };
    if (prefix === '' && text === 'false') return { type: 'literal', at, value: false };
    if (prefix === '' && text === 'null') return { type: 'literal', at, value: null };
    if (reserved.has(text)) {
      throw new SyntaxIssue({ at, message: `reserved identifier: ${text}` });
    }
    const open = this.#take('(');
    if (open === undefined) {
      const struct = this.#struct(text);
      return struct ?? { type: 'identifier', at, name: text };
    }
    const call = { type: 'call', at: open, name: text, target: undefined, args: this.#args() };
    return expandMacro(call as Extract<Expression, { type: 'call' }>);
  }

  /** Parses `{field: value, …}` after the name of a type. */
  #struct(name: string): Expression | undefined {
    if (!this.#is('{')) return undefined;
    const at = this.#need('{');
    const fields: StructField[] = [];
    while (this.#take('}') === undefined) {
      if (fields.length > 0) this.#need(',');
      if (fields.length > 0 && this.#take('}') !== undefined) break;
      const optional = this.#take('?') !== undefined;
      const field = this.#token;
      if (field.type !== 'identifier') this.#fail('IDENTIFIER');
      this.#next++;
      this.#need(':');
      fields.push({ at: field.at, name: field.text, optional, value: this.#expression() });
    }
    return { type: 'struct', at, name, fields };
  }

  #list(): Expression {
    const at = this.#need('[');
    const elements: ListElement[] = [];
    while (this.#take(']') === undefined) {
      if (elements.length > 0) this.#need(',');
      // A trailing comma is valid.
      if (elements.length > 0 && this.#take(']') !== undefined) break;
      const optional = this.#take('?') !== undefined;
      elements.push({ optional, value: this.#expression() });
    }
    return { type: 'list', at, elements };
  }

  #map(): Expression {
    const at = this.#need('{');
    const entries: MapEntry[] = [];
    while (this.#take('}') === undefined) {
      if (entries.length > 0) this.#need(',');
      if (entries.length > 0 && this.#take('}') !== undefined) break;
      const optional = this.#take('?') !== undefined;
      const key = this.#expression();
      this.#need(':');
      entries.push({ optional, key, value: this.#expression() });
    }
    return { type: 'map', at, entries };
  }
}

/**
 * Returns the expansion of a macro call; other calls are returned unchanged.
 * @throws SyntaxIssue
 */
function expandMacro(call: CallExpression): Expression {
  const { name, target, args } = call;
  if (target === undefined) return name === 'has' && args.length === 1 ? expandHas(call) : call;
  const macro = macros[`${name}/${args.length}`];
  return macro === undefined ? call : (macro({ ...call, target }) ?? call);
}

type Method = CallExpression & { readonly target: Expression };

function expandHas({ at, args: [arg] }: CallExpression): Expression {
  if (arg?.type === 'select' && arg.mode === 'value') return { ...arg, at, mode: 'test' };
  throw new SyntaxIssue({ at: arg?.at ?? at, message: 'invalid argument to has() macro' });
}

function comprehension(
  macro: ComprehensionMacro,
  shape: { readonly variables: number; readonly filtered?: boolean },
): (call: Method) => ComprehensionExpression {
  return ({ at, target: range, args }) => {
    const variables = args.slice(0, shape.variables).map(variableOf);
    const [name = '', second] = variables;
    if (name === second) {
      const where = args[1]?.at ?? at;
      throw new SyntaxIssue({ at: where, message: `duplicate variable name: ${name}` });
    }
    const rest = args.slice(shape.variables);
    const [filter, step] = shape.filtered === true ? rest : [undefined, rest[0]];
    if (step === undefined) throw new SyntaxIssue({ at, message: 'missing argument' });
    return { type: 'comprehension', at, macro, range, variables, filter, step };
  };
}

function optionalMap(flat: boolean): (call: Method) => Expression | undefined {
  return ({ at, target, args: [variable, body] }) => {
    if (variable === undefined || body === undefined) return undefined;
    return { type: 'optionalMap', at, target, variable: variableOf(variable), body, flat };
  };
}

function variableOf(arg: Expression): string {
  if (arg.type === 'identifier') return arg.name;
  throw new SyntaxIssue({ at: arg.at, message: 'argument must be a simple name' });
}

const one = { variables: 1 };
const two = { variables: 2 };

const macros: Readonly<Partial<Record<string, (call: Method) => Expression | undefined>>> = {
  'all/2': comprehension('all', one),
  'all/3': comprehension('all', two),
  'exists/2': comprehension('exists', one),
  'exists/3': comprehension('exists', two),
  'exists_one/2': comprehension('existsOne', one),
  'existsOne/3': comprehension('existsOne', two),
  'filter/2': comprehension('filter', one),
  'map/2': comprehension('map', one),
  'map/3': comprehension('map', { ...one, filtered: true }),
  'transformList/3': comprehension('transformList', two),
  'transformList/4': comprehension('transformList', { ...two, filtered: true }),
  'transformMap/3': comprehension('transformMap', two),
  'transformMap/4': comprehension('transformMap', { ...two, filtered: true }),
  'transformMapEntry/3': comprehension('transformMapEntry', two),
  'transformMapEntry/4': comprehension('transformMapEntry', { ...two, filtered: true }),
  'sortBy/2': comprehension('sortBy', one),
  'optMap/2': optionalMap(false),
  'optFlatMap/2': optionalMap(true),
};
