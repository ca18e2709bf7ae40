import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { packageVersion } from '../../client/index.js';
import { OperatorError } from '../../system/index.js';
import { UsageError, exitCodes } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import { carryOut, textIfExists } from './plan-files.js';
import type { PlannedFile, WantedFile } from './plan-files.js';
import { importsIn, importText, localName } from './insertions.js';
import type { ImportedName } from './insertions.js';
import {
  isSameKind,
  openProject,
  projectChange,
  withCliVersion,
  withoutKind,
} from './project-file.js';
import {
  hashOf,
  isGeneratedPath,
  isRecorded,
  readRecord,
  renderProject,
} from './project-record.js';
import type { ProjectRecord } from './project-record.js';
import type { ScaffoldOptions } from './scaffold-command.js';

/**
 * Merges this version's templates into a project of older ones. If changes conflict, the file keeps both versions
 * between git's conflict markers.
 * @throws OperatorError `InvalidConfig`: the project has no record of its templates, has uncommitted changes (without
 * `--force`), or git is missing
 */
export async function upgradeProject(
  options: ScaffoldOptions,
  context: CommandContext,
): Promise<readonly PlannedFile[]> {
  const { folder, path, text, project } = await openProject(options, context);
  const record = await readRecord(folder);
  if (record.size === 0) {
    const remedy = 'restore .operator-builder from version control';
    const what = `${folder} has no record of its templates`;
    throw new OperatorError('InvalidConfig', `${what}; ${remedy}`);
  }
  if (!options.force && !options.dryRun) await refuseUncommitted(folder);
  const from = new Map([...record].map(([file, { text: before }]) => [file, before]));
  const rendered = await renderProject(project, folder, context);
  // `operator-builder manifests` generates the files that are not recorded.
  const to = new Map([...rendered].filter(([file]) => isRecorded(file)));
  to.set(manifest, await withOwnDependency(folder, to.get(manifest) ?? ''));
  const { wanted, conflicts, left } = await mergedFiles(folder, {
    from,
    to,
    record,
    onConflict: 'mark',
  });
  const noted = withCliVersion(text, packageVersion, path);
  const files = [...wanted, projectChange(text, noted)];
  const steps = [
    ...conflicts.map((file) => `edit ${file}  # it has conflicts`),
    ...left.map((file) => `rm ${file}  # no longer in the templates; it has your changes`),
  ];
  const next = ['npm install', 'npm run manifests', 'npm test'];
  const written = await carryOut({ wanted: files, left: steps, next }, options, context);
  if (conflicts.length > 0) context.setExitCode(exitCodes.changes);
  return written;
}

const manifest = 'package.json';
const dependency = /(?<="operator-builder": )"[^"]*"/;

/** Returns the template's package.json with the version of this package that the project has chosen. */
async function withOwnDependency(folder: string, text: string): Promise<string> {
  const [own] = dependency.exec((await textIfExists(join(folder, manifest))) ?? '') ?? [];
  return own === undefined ? text : text.replace(dependency, () => own);
}

/** @throws OperatorError `InvalidConfig`: uncommitted changes, so that a merge could not be undone */
async function refuseUncommitted(folder: string): Promise<void> {
  const status = await new Promise<string | undefined>((resolve) => {
    execFile('git', ['status', '--porcelain', '--', '.'], { cwd: folder }, (error, text) =>
      resolve(error === null ? text : undefined),
    );
  });
  if (status === '') return;
  const what = status === undefined ? 'is not a git repository' : 'has uncommitted changes';
  const remedy = 'commit first, so that the merge can be undone, or pass --force';
  throw new OperatorError('InvalidConfig', `${folder} ${what}; ${remedy}`);
}

export interface DeleteApiOptions extends ScaffoldOptions {
  readonly group: string;
  readonly kind: string;
}

/**
 * Removes a kind with its versions, controllers and webhooks from a project. Files and lines that the user
 * has changed stay, and the report lists them.
 * @throws UsageError unknown kind
 * @throws OperatorError `InvalidConfig`: not a project, or git is missing
 */
export async function deleteApi(
  options: DeleteApiOptions,
  context: CommandContext,
): Promise<readonly PlannedFile[]> {
  const { folder, path, text, project } = await openProject(options, context);
  const { group, kind } = options;
  if (!project.resources.some((one) => isSameKind(one, options))) {
    const known = project.resources.map((one) => `${one.kind} of ${one.group}`);
    const remedy =
      known.length === 0 ? 'it has no kinds' : `want one of ${[...new Set(known)].join(', ')}`;
    throw new UsageError(`--kind: the project has no ${kind} of ${group}; ${remedy}`);
  }
  const others = project.resources.filter((one) => !isSameKind(one, options));
  const from = await renderProject(project, folder, context);
  const to = await renderProject({ ...project, resources: others }, folder, context);
  const record = await readRecord(folder);
  const { wanted, conflicts, left } = await mergedFiles(folder, {
    from,
    to,
    record,
    onConflict: 'leave',
  });
  const noted = withoutKind(text, options, path);
  const files = [...wanted, projectChange(text, noted)];
  const steps = [
    ...left.map((file) => `rm ${file}  # it has your changes`),
    ...conflicts.map((file) => `edit ${file}  # it has lines of ${kind} next to your changes`),
    ...(await importersOf(wanted, folder))
      .filter(([file]) => !left.includes(file) && !conflicts.includes(file))
      .map(([file, deleted]) => `edit ${file}  # it imports ${deleted}, which is deleted`),
  ];
  const next = ['npm run manifests', 'npm test'];
  return carryOut({ wanted: files, left: steps, next }, options, context);
}

/** Returns each TypeScript file that stays and imports a deleted one, with the deleted file. */
async function importersOf(
  wanted: readonly WantedFile[],
  folder: string,
): Promise<readonly (readonly [file: string, deleted: string])[]> {
  const planned = new Map(wanted.map((file) => [file.path, file]));
  const importers: (readonly [string, string])[] = [];
  for (const path of await typeScriptIn(folder, 'src', 'test')) {
    const file = planned.get(path);
    if (file?.type === 'delete') continue;
    const text =
      file?.type === 'edited' ? file.text : ((await textIfExists(join(folder, path))) ?? '');
    const deleted = [...text.matchAll(/\bfrom ['"](\.[^'"\n]+)['"]/g)]
      .map(([, from = '']) => posix.join(posix.dirname(path), from).replace(/\.js$/, '.ts'))
      .find((one) => planned.get(one)?.type === 'delete');
    if (deleted !== undefined) importers.push([path, deleted]);
  }
  return importers;
}

async function typeScriptIn(
  folder: string,
  ...directories: readonly string[]
): Promise<readonly string[]> {
  const lists = directories.map(async (directory) => {
    const entries = await readdir(join(folder, directory), { recursive: true }).catch(() => []);
    return entries.map((entry) => posix.join(directory, entry.replaceAll('\\', '/')));
  });
  return (await Promise.all(lists))
    .flat()
    .filter((path) => path.endsWith('.ts'))
    .toSorted();
}

/** Two renderings of a project, whose difference is merged into its files. */
export interface Merge {
  readonly from: ReadonlyMap<string, string>;
  readonly to: ReadonlyMap<string, string>;
  /** Record of the project, to recognize unchanged files. */
  readonly record: ProjectRecord;
  /** Handling of lines that both the user and the templates changed. */
  readonly onConflict: 'mark' | 'leave';
}

export interface MergedFiles {
  readonly wanted: readonly WantedFile[];
  /** Paths of files with conflicting changes. */
  readonly conflicts: readonly string[];
  /** Paths of obsolete files that stay because the user changed them. */
  readonly left: readonly string[];
}

/**
 * Merges the difference of two renderings into the files of a project.
 * @throws OperatorError `InvalidConfig`: git is missing
 */
export async function mergedFiles(folder: string, merge: Merge): Promise<MergedFiles> {
  const { from, to } = merge;
  const wanted: WantedFile[] = [];
  const conflicts: string[] = [];
  const left: string[] = [];
  for (const path of new Set([...from.keys(), ...to.keys()])) {
    const [base, theirs] = [from.get(path), to.get(path)];
    if (base === theirs) continue;
    const ours = await textIfExists(join(folder, path));
    if (theirs === undefined) {
      if (ours === undefined) continue;
      if (isUnchanged(path, ours, merge)) wanted.push({ type: 'delete', path });
      else left.push(path);
    } else if (isRecorded(path)) {
      const merged = await mergedText({ ours, base, theirs }, merge.onConflict);
      if (merged === undefined) continue;
      if (merged.isClean || merge.onConflict === 'mark') {
        wanted.push({ type: 'edited', path, text: merged.text });
      }
      if (!merged.isClean) conflicts.push(path);
    }
  }
  return { wanted, conflicts, left };
}

function isUnchanged(path: string, ours: string, { from, record }: Merge): boolean {
  if (isGeneratedPath(path)) return true;
  const hash = hashOf(ours);
  return hash === record.get(path)?.hash || hash === hashOf(from.get(path) ?? '');
}

interface Sides {
  /** The project's text; undefined if the file does not exist. */
  readonly ours: string | undefined;
  readonly base: string | undefined;
  readonly theirs: string;
}

/**
 * Returns the text without the lines that only `base` has. They may be anywhere, because users create kinds and
 * webhooks in another order than `base` does. Undefined if that is not safe: the templates differ in more than these
 * lines, or the user changed or repeated one of them, or added lines that belong to one of them.
 */
function withoutLines([ours, base, theirs]: Texts): string | undefined {
  const [before, after] = [bareLines(base), bareLines(theirs)];
  const gone = goneLines([ours, base, theirs]);
  const text = gone.length === 0 ? undefined : withoutImports(ours, base, theirs);
  if (text === undefined || before.length - gone.length !== after.length) return undefined;
  const lines = text.split('\n');
  const present = lines.map((line) => line.trim());
  const isOnce = (line: string): boolean =>
    [before, present].every((some) => some.filter((one) => one === line).length === 1);
  if (!gone.every(isOnce)) return undefined;
  const isGone = (line: string): boolean => gone.includes(line.trim());
  return hasOthersInside(lines, isGone)
    ? undefined
    : lines.filter((line) => !isGone(line)).join('\n');
}

/** Whether a line that stays is indented below one that goes: it would then belong to another entry. */
function hasOthersInside(lines: readonly string[], isGone: (line: string) => boolean): boolean {
  let depth = Infinity;
  // Markers may be indented in another way than the entries above them.
  return lines
    .filter((line) => !/^\s*(?:#|\/\/|$)/.test(line))
    .some((line) => {
      const own = line.search(/\S/);
      if (!isGone(line) && own > depth) return true;
      depth = isGone(line) ? Math.min(depth, own) : Infinity;
      return false;
    });
}

/** Returns the lines that only `base` has. */
function goneLines([, base, theirs]: Texts): readonly string[] {
  const after = bareLines(theirs);
  return bareLines(base).filter((line) => !after.includes(line));
}

/** Returns the lines that are neither blank nor an import. */
function bareLines(text: string): readonly string[] {
  const rest = importsIn(text).reduce((left, { whole }) => left.replace(whole, ''), text);
  return rest
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Returns a text without the names that only `base` imports. Undefined if its imports have another form. */
function withoutImports(text: string, base: string, theirs: string): string | undefined {
  const namesIn = (whole: string, module: string): readonly ImportedName[] =>
    importsIn(whole)
      .filter(({ from }) => from === module)
      .flatMap(({ names }) => names);
  let changed = text;
  for (const { from, names } of importsIn(base)) {
    const kept = namesIn(theirs, from).map(localName);
    const gone = names.map(localName).filter((name) => !kept.includes(name));
    if (gone.length === 0) continue;
    const own = importsIn(text).filter((statement) => statement.from === from);
    if (own.length === 0 || !own.every(({ whole }) => changed.includes(whole))) return undefined;
    for (const statement of own) {
      const { whole } = statement;
      const left = statement.names.filter((name) => !gone.includes(localName(name)));
      if (left.length === 0) changed = changed.replace(`${whole}\n`, '');
      else if (left.length < statement.names.length)
        changed = changed.replace(whole, () => importText({ from, names: left }));
    }
  }
  return changed;
}

interface Merged {
  readonly text: string;
  readonly isClean: boolean;
}

/**
 * Merges a file. With `leave`, the command removes a kind, and its lines are removed one by one where possible. Git
 * would mistake generated lines in another order than in `base` for the user's lines.
 */
async function mergedSides(texts: Texts, onConflict: Merge['onConflict']): Promise<Merged> {
  const [ours, base, theirs] = texts;
  if (ours === base) return { text: theirs, isClean: true };
  if (onConflict === 'mark') return gitMerge(texts);
  const text = withoutLines(texts);
  if (text !== undefined) return { text, isClean: true };
  const merged = await gitMerge(texts);
  const left = bareLines(merged.text);
  return {
    ...merged,
    isClean: merged.isClean && !goneLines(texts).some((line) => left.includes(line)),
  };
}

type Texts = readonly [ours: string, base: string, theirs: string];

/**
 * Returns the merged text; undefined if the file stays unchanged, because the user deleted it or it already
 * has the change.
 */
async function mergedText(
  { ours, base, theirs }: Sides,
  onConflict: Merge['onConflict'],
): Promise<Merged | undefined> {
  if (ours === undefined) return base === undefined ? { text: theirs, isClean: true } : undefined;
  const own = ours.replaceAll('\r\n', '\n');
  return own === theirs ? undefined : mergedSides([own, base ?? '', theirs], onConflict);
}

/** @throws OperatorError `InvalidConfig`: git is missing, or fails */
async function gitMerge(texts: Texts): Promise<Merged> {
  const folder = await mkdtemp(join(tmpdir(), 'operator-builder-merge-'));
  try {
    const names = ['yours', 'before', 'templates'] as const;
    for (const [index, name] of names.entries()) {
      await writeFile(join(folder, name), texts[index] ?? '');
    }
    const labels = names.flatMap((name) => ['-L', name]);
    return await new Promise<Merged>((resolve, reject) => {
      const args = ['merge-file', '-p', '-q', ...labels, ...names];
      execFile('git', args, { cwd: folder, maxBuffer: 64_000_000 }, (error, text) => {
        const code = error === null ? 0 : error.code;
        // Git's exit code is the number of conflicts, at most 127. Higher codes are failures.
        if (typeof code === 'number' && code <= 127) resolve({ text, isClean: code === 0 });
        else reject(noGit(error));
      });
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function noGit(cause: unknown): OperatorError {
  const remedy = 'install git, whose merge-file merges templates into your files';
  return new OperatorError('InvalidConfig', `git merge-file failed; ${remedy}`, { cause });
}
