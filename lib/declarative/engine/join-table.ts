import { setMember } from '../../object/json.js';
import { asError } from '../../system/as-error.js';
import type { Document } from '../document.js';
import type { SpecPath } from '../spec-problem.js';
import type { Delta } from './delta.js';
import { documentKey, valueKey } from './document-key.js';
import type { JoinCheck, JoinSide, JoinSource } from './join-plan.js';
import type { FailureLog } from './stage-failure.js';

/** An object of a source. */
export interface JoinRow {
  readonly key: string;
  readonly document: Document;
  /**
   * For each side the values to look up: one for a single value, any number for a list, usually no value for
   * null.
   */
  readonly values: readonly (readonly string[])[];
  weight: number;
}

/** Options of `JoinTable`. */
interface JoinTableOptions {
  readonly source: JoinSource;
  /** The sides of each index. */
  readonly indexes: readonly (readonly number[])[];
  readonly failures: FailureLog;
}

/** The objects of one source, indexed by their join values. */
export class JoinTable {
  readonly #source: JoinSource;
  readonly #failures: FailureLog;
  readonly #rows = new Map<string, JoinRow>();
  readonly #indexes: readonly {
    readonly sides: readonly number[];
    readonly rows: Map<string, Set<JoinRow>>;
  }[];

  constructor({ source, indexes, failures }: JoinTableOptions) {
    this.#source = source;
    this.#failures = failures;
    this.#indexes = indexes.map((sides) => ({ sides, rows: new Map() }));
  }

  /** Returns all objects. */
  rows(): Iterable<JoinRow> {
    return this.#rows.values();
  }

  /**
   * Returns the objects with these values on the sides of an index; undefined if there are no such objects.
   */
  find(index: number, values: string): ReadonlySet<JoinRow> | undefined {
    return this.#indexes[index]?.rows.get(values);
  }

  /**
   * Returns the row of a change; a new row is not stored yet. undefined: the object does not take part in the
   * join.
   */
  rowOf({ document, weight, key = documentKey(document) }: Delta): JoinRow | undefined {
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const own: Record<string, unknown> = {};
    setMember(own, this.#source.name, document);
    const holds = (check: JoinCheck) => this.#tried(check, { own, weight })?.result === true;
    if (!this.#source.checks.every(holds)) return undefined;
    const values = this.#valuesOf(own, weight);
    return values === undefined ? undefined : { key, document, values, weight: 0 };
  }

  /** Changes the weight of a row; stores a new row and removes one of weight 0. */
  change(row: JoinRow, weight: number): void {
    if (row.weight === 0) this.#insert(row);
    row.weight += weight;
    if (row.weight === 0) this.#remove(row);
  }

  #valuesOf(own: Document, weight: number): string[][] | undefined {
    const values: string[][] = [];
    for (const side of this.#source.sides) {
      const keys = this.#tried(side, { own, weight });
      if (keys === undefined) return undefined;
      values.push(valueKeys(keys.result, side));
    }
    return values;
  }

  /** undefined: the expression failed, and the failure is recorded. */
  #tried<T>(
    { expression, path }: { readonly expression: (own: Document) => T; readonly path: SpecPath },
    { own, weight }: { readonly own: Document; readonly weight: number },
  ): { readonly result: T } | undefined {
    try {
      return { result: expression(own) };
    } catch (thrown) {
      const error = asError(thrown);
      this.#failures.add({ stage: '@join', path, document: own, error }, weight);
      return undefined;
    }
  }

  #insert(row: JoinRow): void {
    this.#rows.set(row.key, row);
    for (const { sides, rows } of this.#indexes) {
      for (const values of valuesTogether(sides.map((side) => row.values[side] ?? []))) {
        const found = rows.get(values);
        if (found === undefined) rows.set(values, new Set([row]));
        else found.add(row);
      }
    }
  }

  #remove(row: JoinRow): void {
    this.#rows.delete(row.key);
    for (const { sides, rows } of this.#indexes) {
      for (const values of valuesTogether(sides.map((side) => row.values[side] ?? []))) {
        const found = rows.get(values);
        found?.delete(row);
        if (found?.size === 0) rows.delete(values);
      }
    }
  }
}

function valueKeys(value: unknown, { list, nullCounts }: JoinSide): string[] {
  if (list) return listKeys(value);
  return (value === null || value === undefined) && !nullCounts ? [] : [valueKey(value)];
}

function listKeys(items: unknown): string[] {
  return Array.isArray(items) ? [...new Set(items.map((item) => valueKey(item)))] : [];
}

/** Returns the look-up keys: every combination of one value per side. */
export function valuesTogether(sides: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...more] = sides;
  // A key has no line break: JSON writes it as \n.
  return more.reduce<readonly string[]>(
    (found, values) => found.flatMap((start) => values.map((value) => `${start}\n${value}`)),
    first,
  );
}
