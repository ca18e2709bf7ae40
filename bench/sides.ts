import { ratioOf, rowOf } from './bench-result.js';
import type { BenchResult } from './bench-result.js';

/** The compared sides: our cache, and client-node's informer. */
export type Side = 'ours' | 'theirs';

/** Measured values of each side, by round. */
export type Measured<T> = Readonly<Record<Side, T[]>>;

const names: Readonly<Record<Side, string>> = {
  ours: 'operator-builder',
  theirs: 'client-node informer',
};

/**
 * Measures both sides in each round. The order alternates, so that a change in the machine's speed affects both
 * alike.
 */
export async function inTurn<T>(
  rounds: number,
  measure: (side: Side) => Promise<T>,
): Promise<Measured<T>> {
  const measured: Measured<T> = { ours: [], theirs: [] };
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? (['ours', 'theirs'] as const) : (['theirs', 'ours'] as const);
    for (const side of order) measured[side].push(await measure(side));
  }
  return measured;
}

/** Returns the rows of both sides and their ratio, for the number that `value` picks. */
export function compared<T>(
  name: string,
  unit: string,
  { measured, value }: { readonly measured: Measured<T>; readonly value: (one: T) => number },
): BenchResult {
  const [ours, theirs] = [measured.ours.map(value), measured.theirs.map(value)];
  return {
    ...{ name, unit },
    rows: [rowOf(names.ours, ours), rowOf(names.theirs, theirs)],
    ratio: ratioOf(`${names.ours} to ${names.theirs}`, ours, theirs),
  };
}

/** Returns the value of `--name=value` on the command line; undefined if absent. */
export function flag(name: string): string | undefined {
  const prefix = `--${name}=`;
  return process.argv.find((arg) => arg.startsWith(prefix))?.slice(prefix.length);
}
