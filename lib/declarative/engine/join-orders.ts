/** One of the two sides of an equality: an expression over one source. */
export interface SideOf {
  /** The number of the source. */
  readonly source: number;
  /** The number of the side among those of its source. */
  readonly side: number;
}

/** What a join condition asks to be equal, over two different sources. */
export type Equality = readonly [SideOf, SideOf];

/** How one more source is found, once others are. */
export interface JoinStep {
  readonly source: number;
  /** The number of its index to look into; undefined: no equality leads here, all its objects are taken. */
  readonly index: number | undefined;
  /** Whose values are looked up: one for each side of the index. */
  readonly probes: readonly SideOf[];
  /** After how many sources all of `probes` are known: the first source, with which it starts, is 0. */
  readonly readyAfter: number;
}

/** How all others are found, for each source that one starts from. */
export interface JoinOrders {
  /** For each source. */
  readonly steps: readonly (readonly JoinStep[])[];
  /** For each source its indexes: the numbers of the sides that are looked up together. */
  readonly indexes: readonly (readonly (readonly number[])[])[];
  /** Sources that no equality ties to the first one. */
  readonly untied: readonly number[];
}

/**
 * Plans a join: from the source of a change on, always next the source that most equalities tie to
 * those at hand, all of them in one index.
 */
export function planJoinOrders(sources: number, equalities: readonly Equality[]): JoinOrders {
  const indexes: number[][][] = Array.from({ length: sources }, () => []);
  const steps = indexes.map((_, start) => orderFrom(start, { equalities, indexes }));
  const untied = (steps[0] ?? []).filter(({ index }) => index === undefined);
  return { steps, indexes, untied: untied.map(({ source }) => source) };
}

interface Planning {
  readonly equalities: readonly Equality[];
  /** Is added to. */
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
  // There is always one left: asked for only while there is.
  const { source, ties } = best ?? { source: 0, ties: [] };
  const probes = ties.map(([, other]) => other);
  const readyAfter = Math.max(0, ...probes.map((probe) => bound.indexOf(probe.source)));
  const sides = ties.map(([own]) => own.side);
  const index = ties.length === 0 ? undefined : indexOf(sides, indexes[source] ?? []);
  return { source, index, probes, readyAfter };
}

/** The equalities between `source` and those that are bound; its own side first. */
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

/** The number of the index over `sides`, made if there is none yet. */
function indexOf(sides: readonly number[], indexes: number[][]): number {
  const known = indexes.findIndex((index) => index.join() === sides.join());
  return known >= 0 ? known : indexes.push([...sides]) - 1;
}
