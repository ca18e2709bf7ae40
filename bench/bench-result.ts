/** A number measured several times. */
export interface BenchRow {
  readonly label: string;
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Results of one bench. */
export interface BenchResult {
  readonly name: string;
  /** Unit of the rows, for example `requests/s`. */
  readonly unit: string;
  readonly rows: readonly BenchRow[];
  /** Ratio of two values measured in pairs in this run; above 1 if the first is larger. */
  readonly ratio?: BenchRow;
}

/** Returns the median, the minimum and the maximum of `values`. */
export function rowOf(label: string, values: readonly number[]): BenchRow {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  const lower = sorted.length % 2 === 0 ? (sorted[middle - 1] ?? NaN) : upper;
  return {
    label,
    median: (lower + upper) / 2,
    min: sorted[0] ?? NaN,
    max: sorted.at(-1) ?? NaN,
  };
}

/** Returns the ratios of values of the same round: each of `first` divided by its counterpart of `second`. */
export function ratioOf(
  label: string,
  first: readonly number[],
  second: readonly number[],
): BenchRow {
  return rowOf(
    label,
    first.map((value, n) => value / (second[n] ?? NaN)),
  );
}
