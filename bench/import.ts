import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { ratioOf, rowOf } from './bench-result.js';
import type { BenchResult } from './bench-result.js';

const run = promisify(execFile);
const rounds = 11;

const dist = new URL('../dist/index.js', import.meta.url).href;

/** Modules to load, each into a fresh process; bare Node loads only a built-in module. */
const modules = [
  { label: 'bare Node', specifier: 'node:fs' },
  { label: 'operator-builder', specifier: dist },
  { label: '@kubernetes/client-node', specifier: '@kubernetes/client-node' },
] as const;

type Label = (typeof modules)[number]['label'];

/** Costs of an import in a fresh process. */
interface Cost {
  readonly ms: number;
  /** Growth of resident memory, in 1,000,000 bytes. */
  readonly megabytes: number;
}

/** Measures the time of `import` in a fresh process. Needs the built package. */
export async function benchImportTime(): Promise<BenchResult> {
  return resultOf('import', 'ms', (cost) => cost.ms);
}

/** Measures the resident memory that `import` adds to a fresh process. Needs the built package. */
export async function benchImportMemory(): Promise<BenchResult> {
  return resultOf('memory of import', 'MB', (cost) => cost.megabytes);
}

async function resultOf(
  name: string,
  unit: string,
  value: (cost: Cost) => number,
): Promise<BenchResult> {
  if (!existsSync(new URL(dist))) throw new Error('dist is missing: run npm run build first');
  const values = new Map<Label, number[]>(modules.map(({ label }) => [label, []]));
  for (let round = 0; round < rounds; round++) {
    // Alternate the modules, so that a change in the machine's speed affects all of them.
    for (const { label, specifier } of modules) {
      values.get(label)?.push(value(await costOf(specifier)));
    }
  }
  const of = (label: Label): readonly number[] => values.get(label) ?? [];
  return {
    name,
    unit,
    rows: modules.map(({ label }) => rowOf(label, of(label))),
    ratio: ratioOf(
      'client-node to operator-builder',
      of('@kubernetes/client-node'),
      of('operator-builder'),
    ),
  };
}

async function costOf(specifier: string): Promise<Cost> {
  const script = `
    const memory = process.memoryUsage().rss;
    const start = performance.now();
    await import(${JSON.stringify(specifier)});
    const ms = performance.now() - start;
    const megabytes = (process.memoryUsage().rss - memory) / 1e6;
    console.log(JSON.stringify({ ms, megabytes }));`;
  const cwd = new URL('..', import.meta.url).pathname;
  const args = ['--input-type=module', '--eval', script];
  const { stdout } = await run(process.execPath, args, { cwd });
  return JSON.parse(stdout) as Cost;
}
