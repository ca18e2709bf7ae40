import { isJsonObject, memberOf } from '../../object/json.js';
import { nearestName } from '../../system/known-options.js';
import type { CompileContext } from '../spec-problem.js';

/** Reads the members of a map of a specification and reports their problems. */
export class Members {
  readonly #object: Readonly<Record<string, unknown>>;
  readonly context: CompileContext;

  private constructor(object: Readonly<Record<string, unknown>>, context: CompileContext) {
    this.#object = object;
    this.context = context;
  }

  /**
   * Returns the members of `value`; reports each member that is not in `known`.
   * @returns undefined if `value` is not a map, which is reported
   */
  static of(
    value: unknown,
    known: readonly string[],
    context: CompileContext,
  ): Members | undefined {
    if (!isJsonObject(value)) {
      context.report({ message: `want a map with ${known.join(', ')}` });
      return undefined;
    }
    for (const name of Object.keys(value)) {
      if (known.includes(name)) continue;
      const message = `${name} is no field here: want ${known.join(', ')}`;
      context.report({ message, suggestion: nearestName(name, known) }, name);
    }
    return new Members(value, context);
  }

  /** Returns the value of a member; undefined: absent or null. */
  get(name: string): unknown {
    return memberOf(this.#object, name) ?? undefined;
  }

  /** Returns a string; undefined: absent, or not a string, which is reported. */
  text(name: string): string | undefined {
    const value = this.get(name);
    if (value === undefined || typeof value === 'string') return value;
    this.context.report({ message: `${name}: want a text` }, name);
    return undefined;
  }

  /** Returns a required string; reports one that is missing or empty, and returns `''`. */
  need(name: string): string {
    const value = this.get(name);
    if (typeof value === 'string' && value !== '') return value;
    this.context.report({ message: `${name} is missing: want a text` }, name);
    return '';
  }

  /** Returns one of `choices`; the first one if absent or invalid, which is reported. */
  oneOf<T extends string>(name: string, choices: readonly [T, ...T[]]): T {
    const value = this.text(name);
    const [first] = choices;
    if (value === undefined) return first;
    const found = choices.find((choice) => choice === value);
    if (found !== undefined) return found;
    const message = `${name} ${value}: want ${choices.join(', ')}`;
    this.context.report({ message, suggestion: nearestName(value, choices) }, name);
    return first;
  }

  /** Returns a list with at least one item; reports anything else, and returns an empty list. */
  list(name: string): readonly unknown[] {
    const value = this.get(name);
    if (Array.isArray(value) && value.length > 0) return value;
    this.context.report({ message: `${name}: want a list with at least one entry` }, name);
    return [];
  }
}
