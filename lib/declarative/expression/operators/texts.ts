import { GoPattern, goPattern } from '../../../crd/cel/go.js';
import type { Compiled, OperatorDefinition, Site } from '../compiled.js';
import { DataError } from '../data-error.js';
import { type Operand, printable, text } from '../operands.js';
import { binary, nary, onList, unary } from './define.js';

/** The operators on texts. */
export const textOperators: readonly OperatorDefinition[] = [
  onList('@concat', { item: printable, type: 'string' }, (items, operation) =>
    items.map((item) => printable.read(item, operation)).join(''),
  ),
  binary('@split', { operands: [text, text], type: 'list' }, (value, separator) =>
    // By characters, not by halves of surrogate pairs.
    separator === '' ? Array.from(value) : value.split(separator),
  ),
  nary('@replace', { operands: [text, text, text], type: 'string' }, ([value, wanted, by]) =>
    // A function, because `$&` and the like are special in a replacement text.
    (value ?? '').replaceAll(wanted ?? '', () => by ?? ''),
  ),
  { name: '@regex', compile: compileRegex },
  unary('@lower', { operand: text, type: 'string' }, (value) => value.toLowerCase()),
  unary('@upper', { operand: text, type: 'string' }, (value) => value.toUpperCase()),
];

/** Compiles `[pattern, text]`; a literal pattern is compiled once, at load. */
function compileRegex(argument: unknown, site: Site): Compiled {
  // Patterns from documents are few and repeat.
  let last: { readonly source: string; readonly pattern: GoPattern } | undefined;
  const patternFor = (source: string, operation: string): GoPattern => {
    if (last?.source !== source) last = { source, pattern: patternOf(source, operation) };
    return last.pattern;
  };
  const pattern: Operand<GoPattern> = {
    ...text,
    read: (value, operation) => patternFor(text.read(value, operation), operation),
  };
  const definition = binary(
    site.name,
    { operands: [pattern, text], type: 'boolean' },
    (wanted, value) => wanted.test(value),
  );
  return definition.compile(argument, site);
}

/** Reads a pattern with Go's syntax: matching takes linear time for every pattern. */
function patternOf(source: string, operation: string): GoPattern {
  const pattern = goPattern(source);
  if (pattern instanceof GoPattern) return pattern;
  const refused = new DataError(operation, 'wants a regular expression', source);
  refused.cause = pattern;
  throw refused;
}
