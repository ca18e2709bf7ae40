import { askGoProgram } from '../go-program.js';

/** Values and options of a rendering. */
export interface Rendering {
  readonly release: string;
  readonly namespace: string;
  readonly values: object;
}

/** Result of a rendering. */
export interface Rendered {
  readonly manifest: string;
  readonly notes: string;
  /** Error; empty if the chart was rendered. */
  readonly error: string;
}

/** Helm's results for a chart. */
export interface ChartResult {
  readonly lint: readonly string[];
  readonly results: readonly Rendered[];
}

/** Lints and renders a chart by Helm itself. */
export async function renderChart(
  chart: string,
  renderings: readonly Rendering[],
): Promise<ChartResult> {
  const answer = await askGoProgram(import.meta.dirname, { chart, renderings });
  return answer as ChartResult;
}
