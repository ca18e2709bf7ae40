import { OperatorError } from './operator-error.js';

/**
 * An object with every member of an options type, so that the compiler reports a missing name. It is a list
 * of the names, or the options with their defaults.
 */
export type OptionNames<T> = { readonly [Name in keyof Required<T>]: unknown };

/** Remedies for options that belong elsewhere, by name: `give it to withOptions`. */
export type MisplacedOptions = Readonly<Record<string, string>>;

/**
 * Refuses members of `options` that are not in `names`. Plain JavaScript, a cast or a spread object can
 * bypass the compiler, and an option without effect is worse than an error. Refuses options that are not an object,
 * too.
 * @param subject - the function or class that accepts the options.
 * @throws OperatorError `InvalidOption`: names the option, and the nearest known one.
 */
export function refuseUnknownOptions<T extends object>(
  subject: string,
  options: T,
  names: OptionNames<T>,
  misplaced: MisplacedOptions = {},
): void {
  const given: unknown = options;
  if (typeof given !== 'object' || given === null || given instanceof Promise) {
    // Undefined is allowed: the defaults apply.
    if (given === undefined) return;
    const got = given === null ? 'null' : given instanceof Promise ? 'a promise' : typeof given;
    throw new OperatorError('InvalidOption', `${subject}: options: want an object, got ${got}`);
  }
  // Use `for … in`: some callers run a thousand times a second, and `Object.entries` would create lists each time.
  for (const name in options) {
    if (Object.hasOwn(names, name) || !Object.hasOwn(options, name)) continue;
    if (options[name] === undefined) continue;
    const known = Object.keys(names);
    const problem = `${subject}: unknown option ${JSON.stringify(name)}`;
    throw new OperatorError('InvalidOption', `${problem}; ${remedyFor(name, known, misplaced)}`);
  }
}

/**
 * Refuses options that are not numbers. Strings, for example from environment variables, pass comparisons with
 * numbers, but `+` appends to them, and a timer with such a delay may never wait.
 * @param subject - the function or class that accepts the options.
 * @throws OperatorError `InvalidOption`: names the option and its value.
 */
export function refuseNonNumbers(
  subject: string,
  options: Readonly<Record<string, unknown>>,
): void {
  for (const [name, value] of Object.entries(options)) {
    if (typeof value === 'number') continue;
    const got = typeof value === 'string' ? JSON.stringify(value) : String(value);
    throw new OperatorError('InvalidOption', `${subject}: ${name}: want a number, got ${got}`);
  }
}

/**
 * Refuses a value that is not one of `choices`. A mistyped `onImmutable` must not act as `recreate`, nor the text
 * `'false'` as true.
 * @throws OperatorError `InvalidOption`
 */
export function refuseOtherThan(option: string, given: unknown, choices: readonly unknown[]): void {
  if (given === undefined || choices.includes(given)) return;
  const wanted = choices.map((choice) => JSON.stringify(choice)).join(' or ');
  const isShown = typeof given === 'string' || given === null;
  const got = isShown ? JSON.stringify(given) : typeof given;
  throw new OperatorError('InvalidOption', `${option}: want ${wanted}, got ${got}`);
}

/**
 * Refuses a value that is not a list, such as one name, whose letters would count as names.
 * @throws OperatorError `InvalidOption`
 */
export function refuseNonList(option: string, given: unknown): void {
  if (given === undefined || Array.isArray(given)) return;
  const got = given === null ? 'null' : typeof given;
  throw new OperatorError('InvalidOption', `${option}: want a list, got ${got}`);
}

function remedyFor(name: string, known: readonly string[], misplaced: MisplacedOptions): string {
  if (Object.hasOwn(misplaced, name)) return misplaced[name] ?? '';
  const nearest = nearestName(name, known);
  if (nearest !== undefined) return `did you mean ${JSON.stringify(nearest)}?`;
  return `known options: ${known.join(', ')}`;
}

/**
 * Returns the entry of `names` nearest to `written`: the fewest letters to change, add, drop or swap with the
 * next one. Ignores case. Returns undefined if more than a third of the letters differ.
 */
export function nearestName(written: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let least = Math.max(2, Math.floor(written.length / 3)) + 1;
  for (const name of names) {
    const changes = changesBetween(written.toLowerCase(), name.toLowerCase(), least);
    if (changes >= least) continue;
    nearest = name;
    least = changes;
  }
  return nearest;
}

/** Counts the letters that differ, up to `limit`. */
function changesBetween(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) >= limit) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const next = [row];
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1];
      let changes = (last[column - 1] ?? 0) + (same ? 0 : 1);
      changes = Math.min(changes, (last[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1);
      const swapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (swapped && !same) changes = Math.min(changes, (beforeLast[column - 2] ?? limit) + 1);
      next.push(changes);
    }
    [beforeLast, last] = [last, next];
  }
  return last[other.length] ?? limit;
}

/** Returns `object` without members that are undefined, so that a spread of options erases no others. */
export function withoutUndefined<T extends object>(object: T): T {
  const given = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as T;
}

/** Options with their defaults applied: no field is optional, and only `Undefaulted` can be undefined. */
export type Resolved<Options, Undefaulted extends keyof Options = never> = {
  readonly [Name in keyof Required<Options>]: Name extends Undefaulted
    ? Options[Name]
    : Exclude<Options[Name], undefined>;
};
