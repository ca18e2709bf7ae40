import type { PathScanner } from './path-scanner.js';
import {
  type Comparable,
  type CompareOperator,
  isSingular,
  type Path,
  type Test,
} from './path-syntax.js';

const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const functionName = /[a-z][a-z_0-9]*(?=\()/y;
const comparison = /==|!=|<=|>=|<|>/y;
const membership = /in(?=[\s[])/y;

/** Reads a path within a filter; a parameter, because paths and filters are mutually recursive. */
type ParseQuery = (scanner: PathScanner) => Path;

/**
 * Reads the condition of a filter: `||`, `&&`, `!`, brackets, comparisons, `in`, existence, and the
 * functions `length`, `count`, `match` and `search` of RFC 9535.
 * @throws PathSyntaxError
 */
export function parseTest(scanner: PathScanner, parseQuery: ParseQuery): Test {
  const tests = [parseAnd(scanner, parseQuery)];
  while (takeSymbol(scanner, '||')) tests.push(parseAnd(scanner, parseQuery));
  const [first] = tests;
  return tests.length === 1 && first !== undefined ? first : { kind: 'or', tests };
}

function parseAnd(scanner: PathScanner, parseQuery: ParseQuery): Test {
  const tests = [parseBasic(scanner, parseQuery)];
  while (takeSymbol(scanner, '&&')) tests.push(parseBasic(scanner, parseQuery));
  const [first] = tests;
  return tests.length === 1 && first !== undefined ? first : { kind: 'and', tests };
}

function parseBasic(scanner: PathScanner, parseQuery: ParseQuery): Test {
  if (takeSymbol(scanner, '!')) return { kind: 'not', test: parseBasic(scanner, parseQuery) };
  if (takeSymbol(scanner, '(')) {
    const test = parseTest(scanner, parseQuery);
    scanner.expect(')');
    return test;
  }
  const matches = parseMatches(scanner, parseQuery);
  return matches ?? parseRelation(scanner, parseQuery);
}

function parseMatches(scanner: PathScanner, parseQuery: ParseQuery): Test | undefined {
  const whole = scanner.take('match(');
  if (!whole && !scanner.take('search(')) return undefined;
  const text = parseComparable(scanner, parseQuery);
  scanner.expect(',');
  const pattern = parseComparable(scanner, parseQuery);
  scanner.expect(')');
  return { kind: 'matches', whole, operands: [text, pattern] };
}

function parseRelation(scanner: PathScanner, parseQuery: ParseQuery): Test {
  scanner.skipBlanks();
  const query = scanner.next === '@' || scanner.next === '$' ? parseQuery(scanner) : undefined;
  const value = query === undefined ? parseComparable(scanner, parseQuery) : undefined;
  scanner.skipBlanks();
  const operator = scanner.takeMatch(comparison) as CompareOperator | undefined;
  if (operator !== undefined) {
    const left = value ?? singular(scanner, query);
    return { kind: 'compare', operator, left, right: parseComparable(scanner, parseQuery) };
  }
  if (scanner.takeMatch(membership) !== undefined) {
    const left = value ?? singular(scanner, query);
    return { kind: 'in', left, items: parseItems(scanner) };
  }
  return query === undefined ? scanner.fail('wants a comparison') : { kind: 'exists', path: query };
}

function parseComparable(scanner: PathScanner, parseQuery: ParseQuery): Comparable {
  scanner.skipBlanks();
  if (scanner.next === '@' || scanner.next === '$') return singular(scanner, parseQuery(scanner));
  const name = scanner.takeMatch(functionName);
  if (name !== undefined) return parseFunction(name, scanner, parseQuery);
  return { kind: 'literal', value: parseLiteral(scanner) };
}

function parseFunction(name: string, scanner: PathScanner, parseQuery: ParseQuery): Comparable {
  if (name !== 'length' && name !== 'count') {
    scanner.fail(`${name}() is unknown: there are length, count, match and search`);
  }
  scanner.expect('(');
  scanner.skipBlanks();
  const result: Comparable =
    name === 'count'
      ? { kind: 'count', path: parseQuery(scanner) }
      : { kind: 'length', of: parseComparable(scanner, parseQuery) };
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
  return scanner.fail("wants @…, $…, 'a text', a number, true, false or null");
}

function singular(scanner: PathScanner, path: Path | undefined): Comparable {
  if (path !== undefined && isSingular(path)) return { kind: 'path', path };
  return scanner.fail('only a path to one place, of names and indexes, can be compared');
}

function takeSymbol(scanner: PathScanner, symbol: string): boolean {
  scanner.skipBlanks();
  return scanner.take(symbol);
}
