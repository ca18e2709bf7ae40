import { setMember } from '../../object/index.js';
import { asError } from '../../system/index.js';
import type { Document } from '../document.js';
import type { SpecPath } from '../spec-problem.js';
import type { JoinCheck, JoinPlan, JoinSide, JoinSource, JoinStep } from './compile-join.js';
import type { Delta, IncrementalNode } from './z-set.js';
import { documentKey, valueKey } from './z-set.js';
import type { FailureLog } from './linear-node.js';

/** State of a search for join partners. */
interface Search {
  readonly steps: readonly JoinStep[];
  /** The rows chosen so far, by the numbers of their sources. */
  readonly rows: JoinRow[];
  /** The candidates of each step, if already known; undefined: all rows of its source. */
  readonly found: (Iterable<JoinRow> | undefined)[];
  readonly output: Delta[];
}

/**
 * An inner join of any number of sources. A change of one source looks up its partners in the others:
 * ```text
 *   change of Pod ──> rows of Service by (namespace, app) ──> rows of Node by (name) ──> { Pod, Service, Node }
 * ```
 * The node applies the equalities only; the rest of the condition follows as a step of its own
 * (`JoinPlan.rest`).
 */
export class JoinNode implements IncrementalNode {
  readonly #plan: JoinPlan;
  readonly #tables: readonly JoinTable[];

  constructor(plan: JoinPlan, failures: FailureLog) {
    this.#plan = plan;
    this.#tables = plan.sources.map((source, number) => {
      const indexes = plan.orders.indexes[number] ?? [];
      return new JoinTable({ source, indexes, failures });
    });
  }

  push(input: number, deltas: readonly Delta[]): readonly Delta[] {
    const table = this.#tables[input];
    const steps = this.#plan.orders.steps[input];
    if (table === undefined || steps === undefined) return [];
    const output: Delta[] = [];
    for (const delta of deltas) {
      const row = table.rowOf(delta);
      if (row === undefined) continue;
      const rows: JoinRow[] = [];
      // Weight of the change; the other rows contribute their own weights.
      rows[input] = { ...row, weight: delta.weight };
      this.#bound(0, { steps, rows, found: [], output });
      table.change(row, delta.weight);
    }
    return output;
  }

  /**
   * Continues after one more row is chosen: looks up the candidates that are now determined, and stops if a
   * step has no match.
   */
  #bound(place: number, search: Search): void {
    const { steps, rows, found } = search;
    for (const [number, step] of steps.entries()) {
      if (step.index === undefined || step.readyAfter !== place) continue;
      const matches = this.#matches(step, step.index, rows);
      if (matches === undefined) return;
      found[number] = matches;
    }
    const step = steps[place];
    if (step === undefined) {
      search.output.push(this.#joined(rows));
      return;
    }
    for (const row of found[place] ?? this.#tables[step.source]?.rows() ?? []) {
      rows[step.source] = row;
      this.#bound(place + 1, search);
    }
  }

  /** Returns undefined if no document matches. */
  #matches(
    { source, probes }: JoinStep,
    index: number,
    rows: readonly JoinRow[],
  ): Iterable<JoinRow> | undefined {
    const table = this.#tables[source];
    const sides = probes.map((probe) => rows[probe.source]?.values[probe.side] ?? []);
    const sets = valuesTogether(sides).flatMap((values) => table?.find(index, values) ?? []);
    if (sets.length <= 1) return sets[0];
    // A row is in only one of the sets: in each equality, at least one side has a single value.
    return sets.flatMap((set) => [...set]);
  }

  #joined(rows: readonly JoinRow[]): Delta {
    const document: Record<string, unknown> = {};
    let weight = 1;
    for (const [number, { name }] of this.#plan.sources.entries()) {
      const row = rows[number];
      setMember(document, name, row?.document);
      weight *= row?.weight ?? 0;
    }
    return { document, weight };
  }
}

/** An object of a source. */
interface JoinRow {
  readonly key: string;
  readonly document: Document;
  /**
   * For each side the values to look up: one for a single value, any number for a list, usually no value for
   * null.
   */
  readonly values: readonly (readonly string[])[];
  weight: number;
}

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
function valuesTogether(sides: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...more] = sides;
  // A key has no line break: JSON writes it as \n.
  return more.reduce<readonly string[]>(
    (found, values) => found.flatMap((start) => values.map((value) => `${start}\n${value}`)),
    first,
  );
}
