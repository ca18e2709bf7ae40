// Unlike RFC 9535, allows dashes in names without quotes: labels and annotations have dashes in their names.
const bareName = /[\w\-\u0080-\u{10FFFF}]+/uy;
const integer = /-?(?:0|[1-9][0-9]*)(?![0-9.eE])/y;

/**
 * Parses a JSONPath of RFC 9535 that begins with `$` or `$$`. Extensions: `$.` and `$$.` are the root itself,
 * names without quotes may have dashes, and filters support `in ['a', 'b']`.
 * @throws PathSyntaxError with the position of the error
 */
export function parsePath(text: string): Path {
  const scanner = new PathScanner(text);
  scanner.expect('$');
  const root = scanner.take('$') ? '$$' : '$';
  if (text === `${root}.`) return { root, segments: [] };
  const segments = parseSegments(scanner);
  if (!scanner.atEnd) scanner.fail(`want . or [, got ${JSON.stringify(scanner.next)}`);
  return { root, segments };
}

/** Reads all following segments. */
function parseSegments(scanner: PathScanner): Segment[] {
  const segments: Segment[] = [];
  for (;;) {
    if (scanner.take('..')) {
      const selectors = scanner.next === '[' ? parseBrackets(scanner) : [parseBare(scanner)];
      segments.push({ descendant: true, selectors });
    } else if (scanner.take('.')) {
      segments.push({ descendant: false, selectors: [parseBare(scanner)] });
    } else if (scanner.next === '[') {
      segments.push({ descendant: false, selectors: parseBrackets(scanner) });
    } else {
      return segments;
    }
  }
}

function parseBare(scanner: PathScanner): Selector {
  if (scanner.take('*')) return { kind: 'wildcard' };
  const name = scanner.takeMatch(bareName);
  return name === undefined
    ? scanner.fail("want a name or *; write a name with other characters as ['…']")
    : { kind: 'name', name };
}

function parseBrackets(scanner: PathScanner): Selector[] {
  scanner.expect('[');
  const selectors: Selector[] = [];
  do {
    scanner.skipBlanks();
    selectors.push(parseSelector(scanner));
    scanner.skipBlanks();
  } while (scanner.take(','));
  scanner.expect(']');
  return selectors;
}

function parseSelector(scanner: PathScanner): Selector {
  if (scanner.take('*')) return { kind: 'wildcard' };
  if (scanner.take('?')) return { kind: 'filter', test: parseTest(scanner) };
  if (scanner.next === "'" || scanner.next === '"') {
    return { kind: 'name', name: scanner.takeQuoted() };
  }
  const start = parseInteger(scanner);
  scanner.skipBlanks();
  if (scanner.next === ':') return parseSlice(scanner, start);
  return start === undefined
    ? scanner.fail("want 'a name', an index, *, a slice or ?filter")
    : { kind: 'index', index: start };
}

function parseSlice(scanner: PathScanner, start: number | undefined): Selector {
  scanner.expect(':');
  scanner.skipBlanks();
  const end = parseInteger(scanner);
  scanner.skipBlanks();
  if (!scanner.take(':')) return { kind: 'slice', start, end, step: 1 };
  scanner.skipBlanks();
  return { kind: 'slice', start, end, step: parseInteger(scanner) ?? 1 };
}

function parseInteger(scanner: PathScanner): number | undefined {
  const digits = scanner.takeMatch(integer);
  if (digits === undefined) return undefined;
  const value = Number(digits);
  if (digits === '-0' || !Number.isSafeInteger(value)) scanner.fail(`invalid index ${digits}`);
  return value;
}

/** Reads a path within a filter: of the node under test (`@`) or of the document (`$`). */
function parseQuery(scanner: PathScanner): Path {
  const root = scanner.take('@') ? '@' : scanner.take('$') ? '$' : scanner.fail('want @ or $');
  return { root, segments: parseSegments(scanner) };
}

const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const functionName = /[a-z][a-z_0-9]*(?=\()/y;
const comparison = /==|!=|<=|>=|<|>/y;
const membership = /in(?=[\s[])/y;

/**
 * Reads the condition of a filter: `||`, `&&`, `!`, brackets, comparisons, `in`, existence, and the
 * functions `length`, `count`, `match` and `search` of RFC 9535.
 * @throws PathSyntaxError
 */
function parseTest(scanner: PathScanner): Test {
  const tests = [parseAnd(scanner)];
  while (takeSymbol(scanner, '||')) tests.push(parseAnd(scanner));
  const [first] = tests;
  return tests.length === 1 && first !== undefined ? first : { kind: 'or', tests };
}

function parseAnd(scanner: PathScanner): Test {
  const tests = [parseBasic(scanner)];
  while (takeSymbol(scanner, '&&')) tests.push(parseBasic(scanner));
  const [first] = tests;
  return tests.length === 1 && first !== undefined ? first : { kind: 'and', tests };
}

function parseBasic(scanner: PathScanner): Test {
  if (takeSymbol(scanner, '!')) return { kind: 'not', test: parseBasic(scanner) };
  if (takeSymbol(scanner, '(')) {
    const test = parseTest(scanner);
    scanner.expect(')');
    return test;
  }
  const matches = parseMatches(scanner);
  return matches ?? parseRelation(scanner);
}

function parseMatches(scanner: PathScanner): Test | undefined {
  const whole = scanner.take('match(');
  if (!whole && !scanner.take('search(')) return undefined;
  const text = parseComparable(scanner);
  scanner.expect(',');
  const pattern = parseComparable(scanner);
  scanner.expect(')');
  return { kind: 'matches', whole, operands: [text, pattern] };
}

function parseRelation(scanner: PathScanner): Test {
  scanner.skipBlanks();
  const query = scanner.next === '@' || scanner.next === '$' ? parseQuery(scanner) : undefined;
  const value = query === undefined ? parseComparable(scanner) : undefined;
  scanner.skipBlanks();
  const operator = scanner.takeMatch(comparison) as CompareOperator | undefined;
  if (operator !== undefined) {
    const left = value ?? singular(scanner, query);
    return { kind: 'compare', operator, left, right: parseComparable(scanner) };
  }
  if (scanner.takeMatch(membership) !== undefined) {
    const left = value ?? singular(scanner, query);
    return { kind: 'in', left, items: parseItems(scanner) };
  }
  return query === undefined ? scanner.fail('want a comparison') : { kind: 'exists', path: query };
}

function parseComparable(scanner: PathScanner): Comparable {
  scanner.skipBlanks();
  if (scanner.next === '@' || scanner.next === '$') return singular(scanner, parseQuery(scanner));
  const name = scanner.takeMatch(functionName);
  if (name !== undefined) return parseFunction(name, scanner);
  return { kind: 'literal', value: parseLiteral(scanner) };
}

function parseFunction(name: string, scanner: PathScanner): Comparable {
  if (name !== 'length' && name !== 'count') {
    scanner.fail(`${name}() is unknown; the functions are length, count, match and search`);
  }
  scanner.expect('(');
  scanner.skipBlanks();
  const result: Comparable =
    name === 'count'
      ? { kind: 'count', path: parseQuery(scanner) }
      : { kind: 'length', of: parseComparable(scanner) };
  scanner.expect(')');
  return result;
}

function parseItems(scanner: PathScanner): (string | number | boolean | null)[] {
  scanner.expect('[');
  const items: (string | number | boolean | null)[] = [];
  scanner.skipBlanks();
  if (scanner.take(']')) return items;
  do {
    scanner.skipBlanks();
    items.push(parseLiteral(scanner));
    scanner.skipBlanks();
  } while (scanner.take(','));
  scanner.expect(']');
  return items;
}

function parseLiteral(scanner: PathScanner): string | number | boolean | null {
  if (scanner.next === "'" || scanner.next === '"') return scanner.takeQuoted();
  const digits = scanner.takeMatch(number);
  if (digits !== undefined) return Number(digits);
  const word = scanner.takeMatch(/(?:true|false|null)(?![\w-])/y);
  if (word === 'null') return null;
  if (word !== undefined) return word === 'true';
  return scanner.fail("want @…, $…, 'a string', a number, true, false or null");
}

function singular(scanner: PathScanner, path: Path | undefined): Comparable {
  if (path !== undefined && isSingular(path)) return { kind: 'path', path };
  return scanner.fail('only a path to one place, of names and indexes, can be compared');
}

function takeSymbol(scanner: PathScanner, symbol: string): boolean {
  scanner.skipBlanks();
  return scanner.take(symbol);
}

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
class PathScanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

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

  /** Consumes `wanted` after blanks. @throws PathSyntaxError: other text comes next */
  expect(wanted: string): void {
    this.skipBlanks();
    if (!this.take(wanted)) this.fail(`want ${wanted}`);
  }

  /** Consumes spaces, tabs and line breaks. */
  skipBlanks(): void {
    this.takeMatch(/[ \t\n\r]*/y);
  }

  /** Consumes a string in single or double quotes. @throws PathSyntaxError: the closing quote is missing */
  takeQuoted(): string {
    const start = this.#at;
    const quote = this.next;
    this.#at += 1;
    let text = '';
    while (!this.take(quote)) {
      if (this.atEnd) {
        this.#at = start;
        this.fail(`unterminated text; want a closing ${quote}`);
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
    if (escaped === undefined) this.fail(`invalid escape \\${this.next}`);
    this.#at += 1;
    return escaped;
  }
}

/** A parsed JSONPath (RFC 9535). */
export interface Path {
  /** `$`: the document; `$$`: the element of the nearest list operator; `@`: the node under test. */
  readonly root: '$' | '$$' | '@';
  readonly segments: readonly Segment[];
}

/** A step from nodes to nodes below them: their children, or all their descendants (`..`). */
export interface Segment {
  readonly descendant: boolean;
  /** The selectors, at least one. The results of each follow those of the one before. */
  readonly selectors: readonly Selector[];
}

/** A selection of a node's children. */
export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'wildcard' }
  | {
      readonly kind: 'slice';
      readonly start: number | undefined;
      readonly end: number | undefined;
      readonly step: number;
    }
  | { readonly kind: 'filter'; readonly test: Test };

/** The condition of a filter. */
export type Test =
  | { readonly kind: 'or' | 'and'; readonly tests: readonly Test[] }
  | { readonly kind: 'not'; readonly test: Test }
  | { readonly kind: 'exists'; readonly path: Path }
  | { readonly kind: 'in'; readonly left: Comparable; readonly items: readonly unknown[] }
  | { readonly kind: 'matches'; readonly whole: boolean; readonly operands: readonly Comparable[] }
  | {
      readonly kind: 'compare';
      readonly operator: CompareOperator;
      readonly left: Comparable;
      readonly right: Comparable;
    };

export type CompareOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** An expression with at most one value. */
export type Comparable =
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'length'; readonly of: Comparable }
  | { readonly kind: 'count'; readonly path: Path };

/** The text is not a valid JSONPath. */
export class PathSyntaxError extends Error {
  /** Position of the error: the number of the character, from 1. */
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.name = 'PathSyntaxError';
    this.position = position;
  }
}

/** Whether a path leads to at most one place: it has only names and indexes. */
export function isSingular(path: Path): boolean {
  return path.segments.every(
    ({ descendant, selectors: [first, ...rest] }) =>
      !descendant && rest.length === 0 && (first?.kind === 'name' || first?.kind === 'index'),
  );
}
