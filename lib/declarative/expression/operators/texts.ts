import { GoPattern, goPattern } from '../../../crd/cel/go-pattern.js';
import type { Compiled, OperatorDefinition, Site } from '../compiled.js';
import { DataError } from '../data-error.js';
import { type Operand, printable, text } from '../operands.js';
import { binary, nary, onList, unary } from './define.js';

/** What works on texts. */
export const textOperators: readonly OperatorDefinition[] = [
  onList('@concat', { item: printable, type: 'string' }, (items, operation) =>
    items.map((item) => printable.read(item, operation)).join(''),
  ),
  binary('@split', { operands: [text, text], type: 'list' }, (value, separator) =>
    // By characters, not by halves of surrogate pairs.
    separator === '' ? Array.from(value) : value.split(separator),
  ),
  nary('@replace', { operands: [text, text, text], type: 'string' }, ([value, wanted, by]) =>
    // A function, for in a text `$&` and the like have a meaning.
    (value ?? '').replaceAll(wanted ?? '', () => by ?? ''),
  ),
  { name: '@regex', compile: compileRegex },
  unary('@lower', { operand: text, type: 'string' }, (value) => value.toLowerCase()),
  unary('@upper', { operand: text, type: 'string' }, (value) => value.toUpperCase()),
];

/** `[pattern, text]`; a pattern that is written out is compiled once, at load. */
function compileRegex(argument: unknown, site: Site): Compiled {
  // Patterns from documents are few and come again and again.
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

/** As Go reads it: its time grows with the length of the text, whatever the pattern. */
function patternOf(source: string, operation: string): GoPattern {
  const pattern = goPattern(source);
  if (pattern instanceof GoPattern) return pattern;
  const refused = new DataError(operation, 'wants a regular expression', source);
  refused.cause = pattern;
  throw refused;
}
