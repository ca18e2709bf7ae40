import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import type { FleetReport, FleetResult } from '../../bench/fleet/index.js';
import type { PhaseResult } from '../../bench/fleet/phases.js';

const page = 'docs/performance.md';
const chart = 'docs/performance/fleet.svg';
const numbers = 'docs/performance/fleet.json';
const begin = '<!-- Made by scripts/docs/draw.ts from performance/fleet.json. -->';
const end = '<!-- End of what is made. -->';

/** The committed text of the fleet bench, and the text expected from the committed numbers. */
export interface PerformancePage {
  readonly committed: readonly [page: string, chart: string];
  readonly expected: readonly [page: string, chart: string];
}

/** Reads the committed numbers, and generates the tables and the chart of the page. */
export async function performancePage(): Promise<PerformancePage> {
  const [text, svg, json] = await Promise.all(
    [page, chart, numbers].map((path) => readFile(path, 'utf8')),
  );
  const report = JSON.parse(json ?? '') as FleetReport;
  const [before = '', rest = ''] = (text ?? '').split(begin);
  const [, after = ''] = rest.split(end);
  const made = `${before}${begin}\n\n${tables(report)}\n\n${end}${after}`;
  const formatted = await format(made, { ...(await resolveConfig(page)), filepath: page });
  return { committed: [text ?? '', svg ?? ''], expected: [formatted, chartOf(report)] };
}

/** Rewrites the tables and the chart from the committed numbers. */
export async function writePerformancePage(): Promise<void> {
  const { expected } = await performancePage();
  await writeFile(page, expected[0]);
  await writeFile(chart, expected[1]);
}

const writeVerbs = ['create', 'update', 'patch', 'delete', 'deletecollection'];

interface Row {
  readonly title: string;
  readonly phase: string;
  readonly value: (phase: PhaseResult, size: number) => number;
  readonly digits: number;
}

const secondsOf = (phase: string): Row => ({
  ...{ title: `${phase}: s`, phase, digits: 1, value: ({ seconds }) => seconds },
});
const cpuOf = (phase: string): Row => ({
  ...{ title: `${phase}: CPU s`, phase, digits: 1, value: ({ cpuSeconds }) => cpuSeconds },
});
const serverCpuOf = (phase: string): Row => ({
  ...{ title: `${phase}: CPU s of the server`, phase, digits: 0 },
  value: ({ serverCpuSeconds }) => serverCpuSeconds,
});
const writesOf = (phase: string): Row => ({
  ...{ title: `${phase}: writes each`, phase, digits: 2 },
  value: ({ requests }, size) =>
    writeVerbs.reduce((sum, verb) => sum + (requests[verb] ?? 0), 0) / size,
});
const eventsOf = (phase: string): Row => ({
  ...{ title: `${phase}: Events each`, phase, digits: 2 },
  value: ({ requests }, size) => (requests['events'] ?? 0) / size,
});
const noOp: Row = {
  ...{ title: 'no-op: CPU ms each', phase: 'no-op', digits: 2 },
  value: ({ cpuSeconds }, size) => (cpuSeconds * 1_000) / size,
};
const memory: Row = {
  ...{ title: 'peak MiB', phase: 'roll', digits: 0 },
  value: ({ peakRssBytes }) => peakRssBytes / 2 ** 20,
};

const rows: readonly Row[] = [
  ...[secondsOf('create'), cpuOf('create'), serverCpuOf('create')],
  ...[writesOf('create'), eventsOf('create'), noOp],
  ...[secondsOf('roll'), cpuOf('roll'), serverCpuOf('roll'), writesOf('roll')],
  ...[secondsOf('fail-over'), memory],
];

function tables({ date, machine, node, results }: FleetReport): string {
  const sizes = [...new Set(results.map(({ size }) => size))];
  const parts = sizes.map((size) => {
    const shown = results.filter((each) => each.size === size);
    const head = `| ${['', ...shown.map(({ peer }) => peer)].join(' | ')} |`;
    const line = `| ${['---', ...shown.map(() => '--:')].join(' | ')} |`;
    const body = rows.map((row) => {
      return `| ${[row.title, ...shown.map((each) => cell(each, row))].join(' | ')} |`;
    });
    return [`${size} resources:`, [head, line, ...body].join('\n')].join('\n\n');
  });
  const when = `Measured on ${date.slice(0, 10)}, ${machine}, Node.js ${node.slice(1)}.`;
  return [when, '![The same in bars](performance/fleet.svg)', ...parts].join('\n\n');
}

function numberOf({ phases, size }: FleetResult, { phase, value }: Row): number | undefined {
  const found = phases.find((each) => each.phase === phase);
  return found === undefined ? undefined : value(found, size);
}

function cell(result: FleetResult, row: Row): string {
  return numberOf(result, row)?.toFixed(row.digits) ?? '';
}

const barHeight = 14;
const panelWidth = 250;
const labelWidth = 130;
const colours = ['#2f6feb', '#8a8f98', '#b4b9c1', '#d0a03a'];

/** Returns a bar chart for the largest fleet that was measured with every operator, with a panel for each number. */
function chartOf({ results }: FleetReport): string {
  const peers = [...new Set(results.map(({ peer }) => peer))];
  const isShared = (size: number): boolean =>
    peers.every((peer) => results.some((each) => each.peer === peer && each.size === size));
  const size = Math.max(...results.map((each) => each.size).filter(isShared));
  const shown = results.filter((each) => each.size === size);
  const panels = rows.filter(({ digits, phase }) => digits < 2 && phase !== 'fail-over');
  panels.splice(2, 0, noOp);
  const panelHeight = 30 + peers.length * (barHeight + 4);
  const bars = panels.map((row, n) => panel(row, shown, n * panelHeight + 30));
  const height = panels.length * panelHeight + 40;
  const width = labelWidth + panelWidth + 70;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="8" y="18" font-size="13" font-weight="bold">A fleet of ${size} resources: less is better</text>`,
    ...bars.flat(),
    '</svg>\n',
  ].join('\n');
}

function panel(row: Row, results: readonly FleetResult[], top: number): readonly string[] {
  const values = results.map((each) => numberOf(each, row) ?? 0);
  const most = Math.max(...values, Number.MIN_VALUE);
  const bars = results.flatMap(({ peer }, n) => {
    const value = values[n] ?? 0;
    const y = top + 20 + n * (barHeight + 4);
    const width = Math.max(1, (value / most) * panelWidth).toFixed(1);
    const text = y + barHeight - 3;
    return [
      `<text x="${labelWidth - 6}" y="${text}" text-anchor="end">${peer}</text>`,
      `<rect x="${labelWidth}" y="${y}" width="${width}" height="${barHeight}" fill="${colours[n] ?? '#8a8f98'}"/>`,
      `<text x="${labelWidth + Number(width) + 5}" y="${text}">${value.toFixed(row.digits)}</text>`,
    ];
  });
  return [`<text x="8" y="${top + 14}" font-weight="bold">${row.title}</text>`, ...bars];
}
