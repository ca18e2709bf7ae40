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
  /** For each side the values to look up or to be found by: one, of a list any number, of null none. */
  readonly values: readonly (readonly string[])[];
  weight: number;
}

/** What a join keeps of one source. */
interface JoinTableOptions {
  readonly source: JoinSource;
  /** The sides that each index is over. */
  readonly indexes: readonly (readonly number[])[];
  readonly failures: FailureLog;
}

/** The objects of one source, and indexes over what they are joined by. */
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

  /** All objects. */
  rows(): Iterable<JoinRow> {
    return this.#rows.values();
  }

  /** The objects with these values on the sides of an index; undefined: there are none. */
  find(index: number, values: string): ReadonlySet<JoinRow> | undefined {
    return this.#indexes[index]?.rows.get(values);
  }

  /** The row of what changes; a new one is not kept yet. undefined: it does not take part. */
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

  /** Counts a row in or out. */
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

  /** undefined: it failed, which was noted. */
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

/** What to look up: each way to take one of each. */
export function valuesTogether(sides: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...more] = sides;
  // A key has no line break: JSON writes it as \n.
  return more.reduce<readonly string[]>(
    (found, values) => found.flatMap((start) => values.map((value) => `${start}\n${value}`)),
    first,
  );
}
