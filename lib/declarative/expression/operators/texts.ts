import { type Compiled, failed, type OperatorDefinition, type Site } from '../compiled.js';
import { DataError } from '../data-error.js';
import { printable, text } from '../operands.js';
import { binary, nary, onList, unary } from './define.js';

/** What works on texts. */
export const textOperators: readonly OperatorDefinition[] = [
  onList('@concat', { item: printable, type: 'string' }, (items, operation) =>
    items.map((item) => printable.read(item, operation)).join(''),
  ),
  binary('@split', { operands: [text, text], type: 'list' }, (value, separator) =>
    // By characters, not by halves of surrogate pairs.
    separator === '' ? [...value] : value.split(separator),
  ),
  nary('@replace', { operands: [text, text, text], type: 'string' }, replace),
  regexOperator(),
  unary('@lower', { operand: text, type: 'string' }, (value) => value.toLowerCase()),
  unary('@upper', { operand: text, type: 'string' }, (value) => value.toUpperCase()),
];

function replace(values: readonly unknown[], operation: string): string {
  const [value, wanted, replacement] = values.map((item) => text.read(item, operation));
  // A function, for in a text `$&` and the like have a meaning.
  return (value ?? '').replaceAll(wanted ?? '', () => replacement ?? '');
}

/** `[pattern, text]`; a pattern that is written out is compiled once, at load. */
function regexOperator(): OperatorDefinition {
  const name = '@regex';
  const compile = (argument: unknown, site: Site): Compiled => {
    const [source] = Array.isArray(argument) ? (argument as unknown[]) : [];
    if (typeof source === 'string' && !source.startsWith('$')) {
      const problem = patternProblem(source);
      if (problem !== undefined) {
        site.context.report({ message: `${name}: ${problem}` }, 0);
        return failed;
      }
    }
    // Patterns from documents are few and come again and again.
    let last: { readonly source: string; readonly pattern: RegExp } | undefined;
    const matches = (wanted: string, value: string, operation: string): boolean => {
      if (last?.source !== wanted) {
        last = { source: wanted, pattern: patternOf(wanted, operation) };
      }
      return last.pattern.test(value);
    };
    return binary(name, { operands: [text, text], type: 'boolean' }, matches).compile(
      argument,
      site,
    );
  };
  return { name, compile };
}

function patternOf(source: string, operation: string): RegExp {
  const problem = patternProblem(source);
  if (problem !== undefined) throw new DataError(operation, problem, source);
  return compilePattern(source);
}

function patternProblem(source: string): string | undefined {
  try {
    compilePattern(source);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Go writes flags at the beginning: `(?i)abc`. */
function compilePattern(source: string): RegExp {
  const [prefix = '', flags = ''] = /^\(\?([ims]+)\)/.exec(source) ?? [];
  return new RegExp(source.slice(prefix.length), `u${[...new Set(flags)].join('')}`);
}
