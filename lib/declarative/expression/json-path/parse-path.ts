import { parseTest } from './parse-test.js';
import { PathScanner } from './path-scanner.js';
import type { Path, Segment, Selector } from './path-syntax.js';

// Allows more than RFC 9535 without quotes: names of labels and annotations have dashes.
const bareName = /[\w\-\u0080-\u{10FFFF}]+/uy;
const integer = /-?(?:0|[1-9][0-9]*)(?![0-9.eE])/y;

/**
 * Parses a JSONPath of RFC 9535 that begins with `$` or `$$`. Extensions: `$.` and `$$.` are the root itself,
 * names without quotes may have dashes, and filters support `in ['a', 'b']`.
 * @throws PathSyntaxError with the position of the error
 */
export function parsePath(text: string): Path {
  const scanner = new PathScanner(text);
  if (!scanner.take('$')) scanner.fail('wants $ or $$');
  const root = scanner.take('$') ? '$$' : '$';
  if (text === `${root}.`) return { root, segments: [] };
  const segments = parseSegments(scanner);
  if (!scanner.atEnd) scanner.fail(`wants . or [, not ${JSON.stringify(scanner.next)}`);
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
    ? scanner.fail("wants a name, or * (a name with other characters stands in ['…'])")
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
  if (scanner.take('?')) return { kind: 'filter', test: parseTest(scanner, parseQuery) };
  if (scanner.next === "'" || scanner.next === '"') {
    return { kind: 'name', name: scanner.takeQuoted() };
  }
  const start = parseInteger(scanner);
  scanner.skipBlanks();
  if (scanner.next === ':') return parseSlice(scanner, start);
  return start === undefined
    ? scanner.fail("wants 'a name', an index, *, a slice or ?filter")
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
  if (digits === '-0' || !Number.isSafeInteger(value)) scanner.fail(`${digits} is no index`);
  return value;
}

/** Reads a path within a filter: of the node under test (`@`) or of the document (`$`). */
function parseQuery(scanner: PathScanner): Path {
  const root = scanner.take('@') ? '@' : scanner.take('$') ? '$' : scanner.fail('wants @ or $');
  return { root, segments: parseSegments(scanner) };
}
