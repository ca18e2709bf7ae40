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
  let last: { readonly source: string; readonly pattern: RegExp } | undefined;
  const patternFor = (source: string, operation: string): RegExp => {
    if (last?.source !== source) last = { source, pattern: patternOf(source, operation) };
    return last.pattern;
  };
  const pattern: Operand<RegExp> = {
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

function patternOf(source: string, operation: string): RegExp {
  try {
    return compilePattern(source);
  } catch (error) {
    const refused = new DataError(operation, 'wants a regular expression', source);
    refused.cause = error;
    throw refused;
  }
}

/** Go writes flags at the beginning: `(?i)abc`. */
function compilePattern(source: string): RegExp {
  const [prefix = '', flags = ''] = /^\(\?([ims]+)\)/.exec(source) ?? [];
  return new RegExp(source.slice(prefix.length), `u${[...new Set(flags)].join('')}`);
}
