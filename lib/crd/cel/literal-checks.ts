import { childrenOf } from './expression.js';
import type { CallExpression, CelIssue, Expression } from './expression.js';
import { GoPattern, goPattern } from './go.js';
import { parseDuration, timestampFrom } from './times.js';
import { CelError } from './values.js';
import { dynType, optionalValue, sameType, typeText } from './types.js';
import type { CelType } from './types.js';

/** Returns the problems in literal arguments: patterns, times and durations. */
export function literalIssues(expression: Expression): CelIssue[] {
  const issues: CelIssue[] = [];
  visit(expression, (one) => {
    if (one.type !== 'call') return;
    const arg = one.args.at(-1);
    if (arg?.type !== 'literal') return;
    const { value } = arg;
    const isTime = one.name === 'timestamp' && typeof value === 'bigint';
    if (typeof value !== 'string' && !isTime) return;
    if (!isReadable(one.name, value)) {
      issues.push({ at: arg.at, message: `invalid ${one.name} argument` });
    }
  });
  return issues;
}

function isReadable(name: string, value: string | bigint): boolean {
  if (name === 'timestamp') return isTimestamp(value);
  const text = String(value);
  switch (name) {
    case 'matches':
      return goPattern(text) instanceof GoPattern;
    case 'duration':
      return parseDuration(text) !== undefined;
    default:
      return true;
  }
}

function isTimestamp(value: string | bigint): boolean {
  try {
    return timestampFrom(value) !== undefined;
  } catch (error) {
    if (error instanceof CelError) return false;
    throw error;
  }
}

function visit(expression: Expression, look: (one: Expression) => void): void {
  look(expression);
  for (const child of childrenOf(expression)) visit(child, look);
}

type TypeOf = (expression: Expression) => CelType;

/** Returns the elements of lists and maps that have another type than the first one. In `format`, types may differ. */
export function mixedIssues(expression: Expression, typeOf: TypeOf): CelIssue[] {
  const issues: CelIssue[] = [];
  const typeIn = (value: Expression, optional: boolean): CelType => {
    const type = typeOf(value);
    return (optional ? optionalValue(type) : undefined) ?? type;
  };
  const compare = (wanted: CelType, found: CelType, at: number): boolean => {
    if (sameType(wanted, found)) return true;
    const message = `expected type '${typeText(wanted)}' but found '${typeText(found)}'`;
    issues.push({ at, message });
    return false;
  };
  const visit = (one: Expression): void => {
    if (one.type === 'call' && one.name === 'format') return;
    if (one.type === 'list') {
      const [first, ...rest] = one.elements;
      const type = first === undefined ? dynType : typeIn(first.value, first.optional);
      rest.every(({ value, optional }) => compare(type, typeIn(value, optional), value.at));
    } else if (one.type === 'map') {
      const [first, ...rest] = one.entries;
      const keys = first === undefined ? dynType : typeOf(first.key);
      const values = first === undefined ? dynType : typeIn(first.value, first.optional);
      for (const { key, value, optional } of rest) {
        compare(keys, typeOf(key), key.at);
        compare(values, typeIn(value, optional), value.at);
      }
    }
    for (const child of childrenOf(one)) visit(child);
  };
  visit(expression);
  return issues;
}

/** Returns the problems in the arguments of `format` if text and list are literals. */
export function formatIssues(expression: Expression, typeOf: TypeOf): CelIssue[] {
  const issues: CelIssue[] = [];
  const visit = (one: Expression): void => {
    if (one.type === 'call' && one.name === 'format') {
      const issue = formatIssue(one, typeOf);
      if (issue !== undefined) issues.push(issue);
    }
    for (const child of childrenOf(one)) visit(child);
  };
  visit(expression);
  return issues;
}

const clause = /%(?:%|(\.\d*)?([\s\S]?))/g;

function formatIssue({ target, args, at }: CallExpression, typeOf: TypeOf): CelIssue | undefined {
  const [list] = args;
  if (target?.type !== 'literal' || typeof target.value !== 'string') return undefined;
  if (list?.type !== 'list') return undefined;
  let next = 0;
  for (const [whole, precision, verb = ''] of target.value.matchAll(clause)) {
    if (whole === '%%') continue;
    const problem = clauseProblem(precision, verb);
    if (problem !== undefined) return { at, message: problem };
    const rule = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
    if (rule === undefined) {
      return { at, message: `${unparsed}: unrecognized formatting clause "${verb}"` };
    }
    const arg = list.elements[next++]?.value;
    if (arg === undefined) return { at, message: `index ${next - 1} out of range` };
    const wrong = wrongPart(arg, rule, typeOf);
    if (wrong === undefined) continue;
    const given = `was given ${typeOf(wrong).name}`;
    return { at: wrong.at, message: `error during formatting: ${rule.refusal}, ${given}` };
  }
  const [wanted, given] = [next, list.elements.length];
  if (given <= wanted) return undefined;
  const counts = `(expected ${wanted}, got ${given})`;
  return { at, message: `too many arguments supplied to string.format ${counts}` };
}

const unparsed = 'could not parse formatting clause';

/** Returns the problem of a clause that ends too early, or has no digits after the dot. */
function clauseProblem(precision: string | undefined, verb: string): string | undefined {
  if (precision === undefined) return verb === '' ? 'unexpected end of string' : undefined;
  const why = `${unparsed}: error while parsing precision`;
  if (verb === '') return `${why}: could not find end of precision specifier`;
  if (precision !== '.') return undefined;
  return `${why}: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax`;
}

interface Verb {
  readonly kinds: readonly CelType['kind'][];
  readonly refusal: string;
}

const text: Verb = {
  kinds: [
    ...(['list', 'map', 'int', 'uint', 'double', 'bool', 'string', 'timestamp'] as const),
    ...(['bytes', 'duration', 'type', 'null'] as const),
  ],
  refusal:
    'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
};
const hex: Verb = {
  kinds: ['int', 'uint', 'string', 'bytes'],
  refusal: 'only integers, byte buffers, and strings can be formatted as hex',
};

const verbs: Readonly<Partial<Record<string, Verb>>> = {
  s: text,
  d: { kinds: ['int', 'uint'], refusal: 'decimal clause can only be used on integers' },
  f: { kinds: ['double', 'string'], refusal: 'fixed-point clause can only be used on doubles' },
  e: { kinds: ['double', 'string'], refusal: 'scientific clause can only be used on doubles' },
  b: {
    kinds: ['int', 'uint', 'bool'],
    refusal: 'only integers and bools can be formatted as binary',
  },
  o: { kinds: ['int', 'uint'], refusal: 'octal clause can only be used on integers' },
  x: hex,
  X: hex,
};

/**
 * Returns the argument, or the part of a list or map in it, that the verb of the format, such as `%d`, does not accept.
 */
function wrongPart(arg: Expression, verb: Verb, typeOf: TypeOf): Expression | undefined {
  const { kind } = typeOf(arg);
  if (kind !== 'dyn' && !verb.kinds.includes(kind)) return arg;
  if (verb !== text || (arg.type !== 'list' && arg.type !== 'map')) return undefined;
  for (const part of childrenOf(arg)) {
    const wrong = wrongPart(part, verb, typeOf);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
