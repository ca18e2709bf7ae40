import { setMember } from '../../object/json.js';
import type { Delta, IncrementalNode } from './delta.js';
import type { JoinStep } from './join-orders.js';
import type { JoinPlan } from './join-plan.js';
import { JoinTable, valuesTogether } from './join-table.js';
import type { JoinRow } from './join-table.js';
import type { FailureLog } from './stage-failure.js';

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

  /** undefined: no match. */
  #matches(
    { source, probes }: JoinStep,
    index: number,
    rows: readonly JoinRow[],
  ): Iterable<JoinRow> | undefined {
    const table = this.#tables[source];
    const sides = probes.map((probe) => rows[probe.source]?.values[probe.side] ?? []);
    const sets = valuesTogether(sides).flatMap((values) => table?.find(index, values) ?? []);
    if (sets.length <= 1) return sets[0];
    // A row is in at most one of the sets: one side of each equality is a single value.
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
