/** One side of an equality: an expression over one source. */
export interface SideOf {
  /** The number of the source. */
  readonly source: number;
  /** The number of the side among those of its source. */
  readonly side: number;
}

/** An equality that a join condition requires between two different sources. */
export type Equality = readonly [SideOf, SideOf];

/** The look-up of one more source, given the earlier ones. */
export interface JoinStep {
  readonly source: number;
  /** The number of the index to use; undefined: no equality leads here, so all objects are candidates. */
  readonly index: number | undefined;
  /** The sides that provide the look-up values: one for each side of the index. */
  readonly probes: readonly SideOf[];
  /** Number of steps after which all `probes` are known; 0: with the starting source. */
  readonly readyAfter: number;
}

/** The look-up orders, for each starting source. */
export interface JoinOrders {
  /** The steps for each starting source. */
  readonly steps: readonly (readonly JoinStep[])[];
  /** The indexes of each source: the numbers of the sides that are looked up together. */
  readonly indexes: readonly (readonly (readonly number[])[])[];
  /** Sources that no equality ties to the first one. */
  readonly untied: readonly number[];
}

/**
 * Plans a join. Starting from the changed source, the next source is always the one with the most equalities
 * to the earlier ones, combined in one index.
 */
export function planJoinOrders(sources: number, equalities: readonly Equality[]): JoinOrders {
  const indexes: number[][][] = Array.from({ length: sources }, () => []);
  const steps = indexes.map((_, start) => orderFrom(start, { equalities, indexes }));
  const untied = (steps[0] ?? []).filter(({ index }) => index === undefined);
  return { steps, indexes, untied: untied.map(({ source }) => source) };
}

interface Planning {
  readonly equalities: readonly Equality[];
  /** The planning adds indexes here. */
  readonly indexes: readonly number[][][];
}

function orderFrom(start: number, planning: Planning): JoinStep[] {
  const bound = [start];
  const steps: JoinStep[] = [];
  while (bound.length < planning.indexes.length) {
    const step = nextStep(bound, planning);
    bound.push(step.source);
    steps.push(step);
  }
  return steps;
}

function nextStep(bound: readonly number[], { equalities, indexes }: Planning): JoinStep {
  let best: { readonly source: number; readonly ties: readonly Equality[] } | undefined;
  for (const source of indexes.keys()) {
    if (bound.includes(source)) continue;
    const ties = tiesTo(source, bound, equalities);
    if (best === undefined || ties.length > best.ties.length) best = { source, ties };
  }
  // At least one source is left: the caller checks.
  const { source, ties } = best ?? { source: 0, ties: [] };
  const probes = ties.map(([, other]) => other);
  const readyAfter = Math.max(0, ...probes.map((probe) => bound.indexOf(probe.source)));
  const sides = ties.map(([own]) => own.side);
  const index = ties.length === 0 ? undefined : indexOf(sides, indexes[source] ?? []);
  return { source, index, probes, readyAfter };
}

/** Returns the equalities between `source` and the bound sources, with the side of `source` first. */
function tiesTo(
  source: number,
  bound: readonly number[],
  equalities: readonly Equality[],
): Equality[] {
  return equalities.flatMap<Equality>(([left, right]) => {
    if (left.source === source && bound.includes(right.source)) return [[left, right]];
    if (right.source === source && bound.includes(left.source)) return [[right, left]];
    return [];
  });
}

/** Returns the number of the index over `sides`; creates a missing one. */
function indexOf(sides: readonly number[], indexes: number[][]): number {
  const known = indexes.findIndex((index) => index.join() === sides.join());
  return known >= 0 ? known : indexes.push([...sides]) - 1;
}
