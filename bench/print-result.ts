import type { BenchResult, BenchRow } from './bench-result.js';

/** Prints a table of the rows, and the ratio below it. */
export function printResult({ name, unit, rows, ratio }: BenchResult): void {
  const width = Math.max(...rows.map(({ label }) => label.length));
  console.log(`\n${name} (${unit}): median, min to max`);
  for (const row of rows) console.log(`  ${row.label.padEnd(width)}  ${numbersOf(row)}`);
  if (ratio !== undefined) console.log(`  ${ratio.label}: x ${numbersOf(ratio)}`);
}

function numbersOf({ median, min, max }: BenchRow): string {
  return `${shown(median)}  (${shown(min)} to ${shown(max)})`;
}

function shown(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

/** Prints the medians of `results`, each divided by the one of the same name in `baseline`. */
export function printComparison(
  results: readonly BenchResult[],
  baseline: readonly BenchResult[],
): void {
  console.log('\nTo the baseline (1: the same)');
  for (const { name, rows } of results) {
    const before = baseline.find((each) => each.name === name);
    for (const { label, median } of rows) {
      const row = before?.rows.find((each) => each.label === label);
      const ratio = row === undefined ? 'not in the baseline' : `x ${shown(median / row.median)}`;
      console.log(`  ${name}, ${label}: ${ratio}`);
    }
  }
}
