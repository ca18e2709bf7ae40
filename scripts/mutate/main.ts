/**
 * Measures how many mutants of lib/ the specs detect:
 * `npm run mutate -- --seed 1 --count 200 [--folder lib/x] [--specs spec/x] [--jobs N] [--json FILE]`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { blockOf, blocksOf, measuredCoverage, specFiles, writeCopy } from './coverage.js';
import type { Coverage, RecordedSpec } from './coverage.js';
import { drawn, mutantsOf, withSwitches } from './mutants.js';
import type { Mutant } from './mutants.js';
import { outcomeOf, passes } from './run-mutant.js';
import type { Outcome } from './run-mutant.js';

interface Result {
  readonly mutant: Mutant;
  readonly outcome: Outcome;
  /** Number of spec files that cover the mutant. */
  readonly covering: number;
}

/** A mutant that behaves like the original. File and change identify it, also after its lines have moved. */
interface Equivalent {
  readonly file: string;
  readonly change: string;
  /** Part of the line of code, if the file has the same change at other places. @defaultValue '' */
  readonly line?: string;
  readonly reason: string;
}

const options = optionsOf(process.argv.slice(2));
const sources = readSources();
const candidates = [...sources]
  .filter(([file]) => file.startsWith(options.folder))
  .flatMap(([file, text]) => mutantsOf(file, text));
const sample = drawn(candidates, options.seed, options.count);
const equivalents = JSON.parse(
  readFileSync(new URL('equivalent.json', import.meta.url), 'utf8'),
) as Equivalent[];
const equivalent = sample.filter((mutant) => reasonOf(mutant) !== undefined);
const tried = sample.filter((mutant) => reasonOf(mutant) === undefined);

mkdirSync('.cache/mutate', { recursive: true });
const named = specsIn(options.specs);
const coverage = named ?? measuredCoverage(sources, options.jobs);
for (const { file, passed } of coverage.values()) {
  if (!passed) console.log(`${file}: fails without a mutant, so it is left out`);
}
writeCopy(sources, (file, text) => withSwitches(text, numbered(file)));
if (named !== undefined && !(await passes([...named.values()]))) {
  throw new Error(`--specs: the spec files of ${options.specs ?? ''} fail without a mutant`);
}
const results = await resultsOf(tried);
report(results);

function optionsOf(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: 'string', default: '1' },
      count: { type: 'string', default: '200' },
      folder: { type: 'string', default: 'lib/' },
      specs: { type: 'string' },
      jobs: { type: 'string', default: '2' },
      json: { type: 'string' },
    },
  });
  const number = (name: 'seed' | 'count' | 'jobs'): number => {
    const value = Number(values[name]);
    if (Number.isInteger(value) && value > 0) return value;
    throw new Error(`--${name}: want a positive whole number, got ${values[name]}`);
  };
  const { folder, json, specs } = values;
  if (!existsSync(folder)) throw new Error(`--folder: ${folder} does not exist`);
  return {
    folder,
    json,
    specs,
    seed: number('seed'),
    count: number('count'),
    jobs: number('jobs'),
  };
}

/** Returns the spec files of a folder, or undefined without one. Each runs for every mutant. */
function specsIn(folder: string | undefined): Coverage | undefined {
  if (folder === undefined) return undefined;
  const files = specFiles().filter((file) => file.startsWith(folder));
  if (files.length === 0) throw new Error(`--specs: ${folder} has no spec file`);
  const spec = { passed: true, milliseconds: 0, blocks: {}, loaded: {} };
  return new Map(files.map((file) => [file, { ...spec, file }]));
}

function readSources(): Map<string, string> {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'lib/*.ts'], {
    encoding: 'utf8',
  });
  const files = listed.trim().split('\n').filter(existsSync).sort();
  return new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
}

function reasonOf(mutant: Mutant): string | undefined {
  const lines = sources.get(mutant.file)?.split('\n') ?? [];
  const line = lines[mutant.line - 1] ?? '';
  const found = equivalents.find(
    (each) =>
      each.file === mutant.file && each.change === mutant.change && line.includes(each.line ?? ''),
  );
  return found?.reason;
}

function numbered(file: string): Map<number, Mutant> {
  return new Map([...tried.entries()].filter(([, mutant]) => mutant.file === file));
}

async function resultsOf(mutants: readonly Mutant[]): Promise<Result[]> {
  const done: Result[] = [];
  const queue = [...mutants.entries()];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [number, mutant] = next;
      const specs = named === undefined ? coveringSpecs(mutant, coverage) : [...named.values()];
      const outcome = await outcomeOf(number, mutant, specs);
      done.push({ mutant, outcome, covering: specs.length });
      const { file, line, kind, change } = mutant;
      console.log(
        `${done.length}/${mutants.length} ${outcome}: ${file}:${line} ${kind}: ${change}`,
      );
    }
  };
  await Promise.all(Array.from({ length: options.jobs }, work));
  return done;
}

/** Returns the spec files that run the block of a mutant. */
function coveringSpecs(mutant: Mutant, from: Coverage) {
  const block = blockOf(blocksOf(mutant.file, sources.get(mutant.file) ?? ''), mutant);
  const all = [...from.values()];
  const isIn = (blocks: RecordedSpec['blocks']): boolean =>
    block !== undefined && blocks[mutant.file]?.includes(block) === true;
  // Code that runs while a module is loaded runs only once in a process of several spec files. Its specs are those that
  // import the module, and those that run any block of the module or of a module that imports it: a table of constants
  // has no blocks of its own.
  const isLoaded = block === undefined || all.some(({ loaded }) => isIn(loaded));
  const files = isLoaded ? [mutant.file, ...importersOf(mutant.file)] : [];
  const named = `/${mutant.file.replace(/\.ts$/, '.js')}'`;
  return all.filter(({ file: spec, passed, blocks }) => {
    const runs = isIn(blocks) || files.some((file) => (blocks[file]?.length ?? 0) > 0);
    return passed && (runs || (isLoaded && readFileSync(spec, 'utf8').includes(named)));
  });
}

function importersOf(file: string): string[] {
  const name = file.slice(file.lastIndexOf('/') + 1, -'.ts'.length);
  const folder = dirname(file);
  return [...sources].flatMap(([importer, text]) => {
    const named = text.matchAll(/from '(\.[^']*)\.js'/g);
    const paths = [...named]
      .map(([, path = '']) => path)
      .filter((path) => path.endsWith(`/${name}`));
    const base = new URL(importer, 'file:///');
    return paths.some((path) => new URL(path, base).pathname === `/${folder}/${name}`)
      ? [importer]
      : [];
  });
}

function report(all: readonly Result[]): void {
  const survived = all.filter(({ outcome }) => outcome === 'survived' || outcome === 'not covered');
  console.log('\nfolder: mutants, noticed');
  for (const folder of [...new Set(all.map(({ mutant }) => folderOf(mutant)))].sort()) {
    const own = all.filter(({ mutant }) => folderOf(mutant) === folder);
    const missed = survived.filter(({ mutant }) => folderOf(mutant) === folder).length;
    console.log(`${folder}: ${own.length}, ${own.length - missed}`);
  }
  if (survived.length > 0) console.log('\nnot noticed');
  for (const { mutant, outcome, covering } of survived) {
    const specs = outcome === 'not covered' ? 'no spec file' : `${covering} spec files`;
    console.log(`${mutant.file}:${mutant.line} ${mutant.kind}: ${mutant.change} (${specs})`);
  }
  if (equivalent.length > 0) console.log('\nequivalent, not run');
  for (const mutant of equivalent) {
    console.log(`${mutant.file}:${mutant.line} ${mutant.change}: ${reasonOf(mutant) ?? ''}`);
  }
  const noticed = all.length - survived.length;
  const share = all.length === 0 ? 100 : Math.round((1000 * noticed) / all.length) / 10;
  console.log(`\n${noticed} of ${all.length} mutants noticed: ${share} %`);
  if (options.json === undefined) return;
  const { seed, folder } = options;
  const written = { seed, folder, noticed, share, results: all, equivalent };
  writeFileSync(options.json, `${JSON.stringify(written, null, 2)}\n`);
}

function folderOf({ file }: Mutant): string {
  return file.split('/').slice(0, 2).join('/');
}
