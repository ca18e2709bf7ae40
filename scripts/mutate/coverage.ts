/**
 * Measures which blocks of lib/ each spec file runs. Every block in a copy of the project has a counter, and a run
 * of the specs records the counters of each spec file. The results are cached by the sources of lib/. Only changed
 * spec files are measured again.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { afterShebang } from './mutants.js';
import type { Edit, Mutant } from './mutants.js';

/**
 * Counters of blocks, by file: 1 if the block ran, 2 if it ran while a module was loaded, 3 if both. Global: all
 * modules and the recording hook share it.
 */
export type BlockHits = Record<string, Uint8Array>;

declare global {
  var __blockHits: BlockHits | undefined;
  /** Number of modules of lib/ that are being loaded. */
  var __loading: number | undefined;
}

/** Outcome of one spec file. */
export interface RecordedSpec {
  readonly file: string;
  readonly passed: boolean;
  readonly milliseconds: number;
  /** Numbers of the blocks that ran, by source file. */
  readonly blocks: BlockNumbers;
  /** Numbers of the blocks that ran while modules were loaded, which happens once in a process. */
  readonly loaded: BlockNumbers;
}

type BlockNumbers = Readonly<Record<string, readonly number[]>>;

interface CachedSpec extends RecordedSpec {
  readonly hash: string;
}

export type Coverage = ReadonlyMap<string, RecordedSpec>;

/** Copy of the project in which lib/ is rewritten; the project itself stays as it is. */
export const copy = '.cache/mutate/copy';

/** Returns the coverage of each spec file, measured now or at an earlier run. */
export function measuredCoverage(sources: ReadonlyMap<string, string>, jobs: number): Coverage {
  const cacheFile = `.cache/mutate/loads-${hashOf([...sources].flat().join('\0'))}.json`;
  const cached = new Map(readCache(cacheFile).map((spec) => [spec.file, spec]));
  const hashes = new Map(specFiles().map((file) => [file, hashOf(fs.readFileSync(file, 'utf8'))]));
  const stale = [...hashes].filter(([file, hash]) => cached.get(file)?.hash !== hash);
  if (stale.length > 0) {
    console.log(`measuring the coverage of ${stale.length} spec files`);
    writeCopy(sources, (file, text) => withCounters(file, text));
    const measure = (files: readonly string[]): void => {
      for (const spec of files.length === 0 ? [] : recorded(files, jobs)) {
        cached.set(spec.file, { ...spec, hash: hashes.get(spec.file) ?? '' });
      }
    };
    const files = stale.map(([file]) => file);
    measure(files);
    // Measures failed files again: beside all the others, a spec may run out of time.
    measure(files.filter((file) => cached.get(file)?.passed !== true));
    fs.writeFileSync(cacheFile, JSON.stringify([...cached.values()]));
  }
  return new Map([...cached].filter(([file]) => hashes.has(file)));
}

/** Copies the project with its sources rewritten; writes only what differs from the last copy. */
export function writeCopy(
  sources: ReadonlyMap<string, string>,
  rewrite: (file: string, text: string) => string,
): void {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const files = listed
    .split('\0')
    .filter((file) => fs.lstatSync(file, { throwIfNoEntry: false })?.isFile());
  const kept = new Set(files);
  for (const old of fs.existsSync(copy) ? filesIn(copy) : []) {
    if (!kept.has(old)) fs.rmSync(join(copy, old));
  }
  for (const file of files) {
    const text = sources.get(file);
    const wanted = text === undefined ? fs.readFileSync(file) : Buffer.from(rewrite(file, text));
    const target = join(copy, file);
    if (fs.existsSync(target) && fs.readFileSync(target).equals(wanted)) continue;
    fs.mkdirSync(dirname(target), { recursive: true });
    fs.writeFileSync(target, wanted, { mode: fs.statSync(file).mode });
  }
  const modules = join(copy, 'node_modules');
  if (!fs.existsSync(modules)) fs.symlinkSync(resolve('node_modules'), modules);
}

/** Returns the arguments of Node that run mocha on spec files as `npm test` does. */
export function mochaArguments(files: readonly string[], ...more: readonly string[]): string[] {
  const hooks = ['spec/property-seeds.ts', 'spec/unhandled-rejections.ts'];
  const required = hooks.flatMap((hook) => ['--require', hook]);
  const mocha = ['node_modules/mocha/bin/mocha.js', '--no-config', '--exit', '--reporter', 'min'];
  return ['--import', 'tsx', ...mocha, ...required, ...more, ...files];
}

/** Environment of spec runs, with fixed seeds so that a mutant always has the same outcome. */
export const specEnvironment = { ...process.env, PROPERTY_SEED: '1', SAMPLE_SEED: '1' };

function recorded(files: readonly string[], jobs: number): RecordedSpec[] {
  const folder = resolve('.cache/mutate/records');
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const hooks = ['--require', 'scripts/mutate/record-hits.ts', '--timeout', '60000'];
  // Parallel mode runs the root hooks for each file. mocha requires at least two jobs for it.
  const parallel = ['--parallel', '--jobs', String(Math.max(2, jobs))];
  spawnSync(process.execPath, mochaArguments(files, ...hooks, ...parallel), {
    cwd: copy,
    env: { ...specEnvironment, MUTATE_RECORDS: folder },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return fs.readdirSync(folder).map((name) => {
    const record = JSON.parse(fs.readFileSync(join(folder, name), 'utf8')) as RecordedSpec;
    return { ...record, file: relative(resolve(copy), record.file) };
  });
}

/** Returns the spec files that need no real control plane: those of `npm test`, and those that start programs. */
export function specFiles(): string[] {
  return filesIn('spec')
    .map((file) => `spec/${file}`)
    .filter((file) => file.endsWith('.spec.ts') && !/^spec\/(?:cluster|browser)\//.test(file));
}

function filesIn(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

function readCache(file: string): CachedSpec[] {
  return fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, 'utf8')) as CachedSpec[]) : [];
}

function hashOf(text: string): string {
  return createHash('sha1').update(text).digest('hex').slice(0, 12);
}

/** A block of code that runs as a whole: a body, a branch, a clause. */
interface Block {
  readonly start: number;
  readonly end: number;
  readonly kind: 'block' | 'clause' | 'statement' | 'expression';
  /** Where the counter of a block or clause stands. */
  readonly first: number;
}

/** Environment variable with the start of the path of files in which processes that a spec starts write their hits. */
export const processHitsName = 'MUTATE_PROCESS_HITS';

/** Expression for the counters of a process that a spec starts. The process writes them to a file when it exits. */
const startedProcessHits =
  '((hits)=>{' +
  `const path=globalThis.process?.env?.${processHitsName};` +
  "if(path)process.on('exit',()=>process.getBuiltinModule('node:fs').writeFileSync(" +
  'path+process.pid+process.hrtime.bigint(),JSON.stringify(' +
  'Object.entries(hits).map(([file,ran])=>[file,[...ran.keys()].filter((block)=>ran[block]>0)]))));' +
  'return hits})({})';

/** Returns the text with a counter in each of its blocks. */
export function withCounters(file: string, text: string): string {
  const blocks = blocksOf(file, text);
  const name = JSON.stringify(file);
  const prelude =
    `const __ran=((globalThis.__blockHits??=${startedProcessHits})[${name}]??=new Uint8Array(${blocks.length}));` +
    'globalThis.__loading=(globalThis.__loading??0)+1;';
  const edits = blocks.map(({ kind, start, end, first }, number): Edit => {
    const count = `__ran[${number}]|=globalThis.__loading>0?2:1`;
    if (kind === 'block' || kind === 'clause') {
      return { start: first, end: first, write: () => `${count};` };
    }
    const isStatement = kind === 'statement';
    const write = (inner: string): string =>
      isStatement ? `{${count};${inner}}` : `(${count},${inner})`;
    return { start, end, write };
  });
  return blocks.length === 0
    ? text
    : `${afterShebang(text, prelude, edits)}\nglobalThis.__loading--;\n`;
}

/** Returns the number of the smallest block around a mutant, or undefined at the top of a module. */
export function blockOf(blocks: readonly Block[], mutant: Mutant): number | undefined {
  let found: number | undefined;
  for (const [number, block] of blocks.entries()) {
    if (block.start > mutant.start || block.end < mutant.end) continue;
    const best = found === undefined ? undefined : blocks[found];
    if (best === undefined || block.end - block.start <= best.end - best.start) found = number;
  }
  return found;
}

export function blocksOf(file: string, text: string): Block[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true, ts.ScriptKind.TS);
  const blocks: Block[] = [];
  const add = (node: ts.Node, kind: Block['kind'], first = node.getStart(source)): void => {
    blocks.push({ start: node.getStart(source), end: node.end, kind, first });
  };
  const branch = (statement: ts.Statement | undefined): void => {
    if (statement !== undefined && !ts.isBlock(statement)) add(statement, 'statement');
  };
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node)) add(node, 'block', node.getStart(source) + 1);
    else if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) add(node.body, 'expression');
    else if (ts.isIfStatement(node)) [node.thenStatement, node.elseStatement].forEach(branch);
    else if (ts.isIterationStatement(node, false)) branch(node.statement);
    else if (ts.isCaseOrDefaultClause(node)) {
      const [statement] = node.statements;
      if (statement !== undefined) add(node, 'clause', statement.getStart(source));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return blocks;
}
