import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { loadOperators, operatorGraph, toSvg } from '../../lib/declarative/index.js';

const samples = 'samples/declarative';
const folder = 'docs/graphs';

/** A picture of the docs. */
export interface SampleGraph {
  /** For example `docs/graphs/service-health.svg`. */
  readonly path: string;
  readonly svg: string;
}

/** Draws the graph of every operator in `samples/declarative/`. */
export async function sampleGraphs(): Promise<readonly SampleGraph[]> {
  const entries = await readdir(samples, { withFileTypes: true });
  const names = entries.filter((each) => each.isDirectory()).map(({ name }) => name);
  return Promise.all(
    names.toSorted().map(async (name) => {
      const file = `${samples}/${name}/operator.yaml`;
      const operators = loadOperators(await readFile(file, 'utf8'), file);
      const named = operators.map((each) => ({ name: each.name ?? name, spec: each.spec }));
      return { path: `${folder}/${name}.svg`, svg: await toSvg(operatorGraph(named)) };
    }),
  );
}

/** Returns the committed pictures. */
export async function committedGraphs(): Promise<readonly SampleGraph[]> {
  const names = (await readdir(folder)).toSorted();
  const read = (name: string): Promise<string> => readFile(`${folder}/${name}`, 'utf8');
  return Promise.all(
    names.map(async (name) => ({ path: `${folder}/${name}`, svg: await read(name) })),
  );
}

/** Rewrites all pictures. */
export async function drawSampleGraphs(): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { path, svg } of await sampleGraphs()) await writeFile(path, svg);
}
