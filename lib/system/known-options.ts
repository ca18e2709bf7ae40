import { nearestName } from './nearest-name.js';
import { OperatorError } from './operator-error.js';

/**
 * An object with every member of an options type, so that the compiler reports a missing name: a list of the
 * names, or the resolved options.
 */
export type OptionNames<T> = { readonly [Name in keyof Required<T>]: unknown };

/** Remedies for options that belong elsewhere, by name: `give it to withOptions`. */
export type MisplacedOptions = Readonly<Record<string, string>>;

/**
 * Refuses members of `options` that are not in `names`. Plain JavaScript, a cast or a spread object can
 * bypass the compiler, and an option without effect is worse than an error.
 * @param subject - the function or class that accepts the options.
 * @throws OperatorError `InvalidOption`: names the option, and the nearest known one.
 */
export function refuseUnknownOptions<T extends object>(
  subject: string,
  options: T,
  names: OptionNames<T>,
  misplaced: MisplacedOptions = {},
): void {
  if ((options as T | null) === null) {
    throw new OperatorError('InvalidOption', `${subject}: options: want an object, got null`);
  }
  // A `for` loop by name: some callers run a thousand times a second, and lists of entries would be garbage.
  for (const name in options) {
    if (Object.hasOwn(names, name) || !Object.hasOwn(options, name)) continue;
    if (options[name] === undefined) continue;
    const known = Object.keys(names);
    const problem = `${subject}: unknown option ${JSON.stringify(name)}`;
    throw new OperatorError('InvalidOption', `${problem}; ${remedyFor(name, known, misplaced)}`);
  }
}

function remedyFor(name: string, known: readonly string[], misplaced: MisplacedOptions): string {
  if (Object.hasOwn(misplaced, name)) return misplaced[name] ?? '';
  const nearest = nearestName(name, known);
  if (nearest !== undefined) return `did you mean ${JSON.stringify(nearest)}?`;
  return `known options: ${known.join(', ')}`;
}
