import { isJsonObject, memberOf } from '../../object/json.js';
import { nearestName } from '../../system/nearest-name.js';
import type { CompileContext } from '../spec-problem.js';

/** Reads the members of a map of a specification, and reports what is wrong with them. */
export class Members {
  readonly #object: Readonly<Record<string, unknown>>;
  readonly context: CompileContext;

  private constructor(object: Readonly<Record<string, unknown>>, context: CompileContext) {
    this.#object = object;
    this.context = context;
  }

  /**
   * The members of `value`; a member that is not among `known` is a problem.
   * @returns undefined: it is no map, which is reported
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

  /** What is there, or undefined; null counts as absent. */
  get(name: string): unknown {
    return memberOf(this.#object, name) ?? undefined;
  }

  /** A text; undefined: it is not there, or no text, which is reported. */
  text(name: string): string | undefined {
    const value = this.get(name);
    if (value === undefined || typeof value === 'string') return value;
    this.context.report({ message: `${name}: want a text` }, name);
    return undefined;
  }

  /** A text that has to be there and not empty. */
  need(name: string): string {
    const value = this.get(name);
    if (typeof value === 'string' && value !== '') return value;
    this.context.report({ message: `${name} is missing: want a text` }, name);
    return '';
  }

  /** One of some texts; the first one where it is absent. */
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

  /** The items of a list of at least one; what is wrong is reported. */
  list(name: string): readonly unknown[] {
    const value = this.get(name);
    if (Array.isArray(value) && value.length > 0) return value;
    this.context.report({ message: `${name}: want a list with at least one entry` }, name);
    return [];
  }
}
