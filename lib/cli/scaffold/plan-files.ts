import { mkdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { OperatorError } from '../../system/index.js';
import type { CommandContext } from '../command-context.js';
import { fileError, placeOf, stagedPath, stageText, whileWriting } from '../files.js';
import type { Output } from '../options.js';
import { withMergedImports, insert, missingMarkers } from './insertions.js';
import type { Insertion } from './insertions.js';
import type { ScaffoldOptions } from './scaffold-command.js';

/** A command's request for a file. */
export type WantedFile = {
  /** Path in the project's folder, with slashes. */
  readonly path: string;
} &
  /** A file that the command writes as a whole. `why` is the reason for which an existing file counts as the user's. */
  (
    | { readonly type: 'whole'; readonly text: string; readonly why?: string | undefined }
    /** Written only if missing: the user's file stays, even with `--force`. */
    | { readonly type: 'default'; readonly text: string }
    /** An existing file that the command has read and changed; `from`: the text that the file must still have. */
    | { readonly type: 'edited'; readonly text: string; readonly from?: string | undefined }
    | { readonly type: 'insert'; readonly insertions: readonly Insertion[] }
    /** A file that is deleted if it exists. */
    | { readonly type: 'delete' }
  );

export interface PlannedFile {
  readonly path: string;
  readonly action: 'create' | 'overwrite' | 'change' | 'keep' | 'delete';
  /** The new text; empty for a deleted file. */
  readonly text: string;
  /** Present text; undefined if the file does not exist. */
  readonly before: string | undefined;
  /** Advice for the user, printed in parentheses after the file. */
  readonly note?: string;
}

interface PlanOptions {
  readonly folder: string;
  /** Whether files may be overwritten. */
  readonly force: boolean;
  /** Whether files may lie outside the folder, if the user named the path. @defaultValue false */
  readonly outside?: boolean | undefined;
}

/**
 * Plans the change of each file; writes nothing.
 * @throws OperatorError `InvalidConfig`: files would be overwritten or lack their markers; the message lists
 * all of them, and the lines to add
 */
export async function planFiles(
  wanted: readonly WantedFile[],
  { folder, force, outside = false }: PlanOptions,
): Promise<readonly PlannedFile[]> {
  const taken: string[] = [];
  const problems: string[] = [];
  const planned: PlannedFile[] = [];
  for (const file of wanted) {
    if (!outside) refuseOutside(file.path);
    const before = await textIfExists(join(folder, file.path));
    if (file.type === 'insert') {
      const change = changed(file, before);
      if (typeof change === 'string') problems.push(change);
      else planned.push(change);
      continue;
    }
    if (file.type === 'delete') {
      if (before !== undefined) {
        planned.push({ path: file.path, text: '', before, action: 'delete' });
      }
      continue;
    }
    if (file.type === 'default' && before !== undefined) {
      planned.push(keptFile(file, before));
      continue;
    }
    const { path } = file;
    if (file.type === 'edited' && file.from !== undefined && file.from !== before) {
      problems.push(changedMeanwhile(path));
    }
    const made = path.endsWith('.ts') ? withMergedImports(file.text) : file.text;
    const text = withLineEndings(made, before);
    const action = actionOf(file.type, text, before);
    if (action === 'overwrite' && !force) {
      const why = file.type === 'whole' ? file.why : undefined;
      taken.push(why === undefined ? path : `${path} (${why})`);
    }
    planned.push({ path, text, before, action });
  }
  if (taken.length > 0) {
    const remedy = '--force overwrites them';
    problems.unshift(`these files already exist (${remedy}): ${taken.join(', ')}`);
  }
  if (problems.length === 0) return planned;
  throw new OperatorError('InvalidConfig', `${problems.join('\n')}\nNothing was written.`);
}

function changedMeanwhile(path: string): string {
  return `${path} has changed since this command read it, maybe by another command; run this one again`;
}

/** Returns the new text of a file with its line endings: CRLF if most lines end so, as in files of Windows. */
function withLineEndings(text: string, before = ''): string {
  const plain = plainText(text);
  if (plain === plainText(before)) return before;
  const lines = before.split('\n').slice(0, -1);
  const isOfWindows = lines.filter((line) => line.endsWith('\r')).length * 2 > lines.length;
  return isOfWindows ? plain.replaceAll('\n', '\r\n') : text;
}

function plainText(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

// Guards against any path outside the project, regardless of its origin.
function refuseOutside(path: string): void {
  if (!isAbsolute(path) && !path.split(/[/\\]/).includes('..')) return;
  const what = `${JSON.stringify(path)} is outside the project`;
  throw new OperatorError('InvalidConfig', `${what}: correct the names in PROJECT`);
}

function keptFile({ path, text }: { path: string; text: string }, before: string): PlannedFile {
  const kept = { path, text: before, before, action: 'keep' } as const;
  if (!/ignore$/.test(path)) return kept;
  const present = new Set(before.split(/\r?\n/).map((line) => line.replace(/\/$/, '')));
  const isMissing = (line: string): boolean => line !== '' && !present.has(line.replace(/\/$/, ''));
  const missing = text.split('\n').filter(isMissing);
  return missing.length === 0 ? kept : { ...kept, note: `add to it: ${missing.join(' ')}` };
}

function actionOf(type: 'whole' | 'default' | 'edited', text: string, before?: string) {
  if (before === undefined) return 'create';
  if (before === text) return 'keep';
  return type === 'edited' ? 'change' : 'overwrite';
}

function changed(
  { path, insertions }: Extract<WantedFile, { type: 'insert' }>,
  before: string | undefined,
): PlannedFile | string {
  if (before === undefined) {
    return `${path} does not exist, but has to be changed; restore it from version control`;
  }
  const inserted = insert(plainText(before), insertions);
  if (inserted.type === 'markers-missing') {
    const remedy =
      'add the lines below where they belong, or only the line with the marker, and run the command again';
    return `${path} has lost markers: ${remedy}\n${missingMarkers(path, inserted.missing)}`;
  }
  const text = withLineEndings(inserted.text, before);
  return { path, text, before, action: text === before ? 'keep' : 'change' };
}

/** Returns the text of a file; undefined if it does not exist. */
export async function textIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw fileError(file, 'read', error);
  }
}

/** @throws OperatorError `InvalidConfig`: some files are stale */
export function refuseStale(what: string, files: readonly PlannedFile[], remedy: string): void {
  const stale = files.filter(({ action }) => action !== 'keep').map(({ path }) => path);
  if (stale.length === 0) return;
  throw new OperatorError('InvalidConfig', `stale ${what}: ${stale.join(', ')}; ${remedy}`);
}

interface Scaffold {
  readonly wanted: readonly WantedFile[];
  /** Command lines for files that the user has to change; a dry run lists them, too. @defaultValue none */
  readonly left?: readonly string[];
  /** Command lines to suggest as next steps. */
  readonly next: readonly string[];
}

interface CarryOutOptions extends ScaffoldOptions, Pick<PlanOptions, 'outside'> {}

/** Writes all files or none, prints a report and returns the files. */
export async function carryOut(
  { wanted, left = [], next }: Scaffold,
  { directory, dryRun, force, output, outside }: CarryOutOptions,
  context: CommandContext,
): Promise<readonly PlannedFile[]> {
  const folder = resolve(context.cwd, directory);
  const files = await planFiles(wanted, { folder, force, outside });
  if (!dryRun) await writeFiles(folder, files, context.stopSignal());
  context.stdout.write(reportText({ folder, dryRun, files, left, next }, output));
  return files;
}

/** Reverts a step; steps are reverted in reverse order. */
type Undo = () => Promise<unknown>;

/**
 * Writes all files or none. Writes temporary files first and renames them at the end, so that most errors
 * occur before any change. Reverts everything after a failure or an abort.
 * @throws OperatorError `InvalidConfig`: a file can't be written, or has changed since it was planned. `Aborted`:
 * `signal` was aborted.
 */
export async function writeFiles(
  folder: string,
  files: readonly PlannedFile[],
  signal: AbortSignal,
): Promise<void> {
  const undos: Undo[] = [];
  const staged: { file: PlannedFile; place: string; temporary: string }[] = [];
  try {
    for (const file of files.filter(({ action }) => action !== 'keep' && action !== 'delete')) {
      refuseAborted(signal);
      const at = join(folder, file.path);
      const place = await whileWriting(at, () => placeOf(at));
      const other = staged.find((one) => one.place === place)?.file;
      if (other?.text === file.text) continue;
      if (other !== undefined) throw oneFile(file, other);
      const temporary = await stage(place, file.text, undos);
      staged.push({ file, place, temporary });
    }
    for (const { file, place } of staged) await refuseChangedMeanwhile(file, place);
    for (const { file, place, temporary } of staged) {
      refuseAborted(signal);
      await whileWriting(place, () => rename(temporary, place));
      const { before } = file;
      undos.push(() => (before === undefined ? rm(place) : writeFile(place, before)));
    }
    for (const { path, before = '' } of files.filter(({ action }) => action === 'delete')) {
      refuseAborted(signal);
      const place = join(folder, path);
      await whileWriting(place, () => rm(place));
      undos.push(() => writeFile(place, before));
    }
  } catch (error) {
    for (const undo of undos.toReversed()) await undo();
    throw error;
  }
}

/** Returns the error for two planned files with different texts, if one is a link to the other. */
function oneFile({ path }: PlannedFile, other: PlannedFile): OperatorError {
  const remedy = 'replace the link by a file';
  const message = `${path} and ${other.path} are one file by a link, and get different texts; ${remedy}`;
  return new OperatorError('InvalidConfig', message);
}

async function refuseChangedMeanwhile(
  { path, action, before }: PlannedFile,
  place: string,
): Promise<void> {
  if (action !== 'change' || (await textIfExists(place)) === before) return;
  throw new OperatorError('InvalidConfig', `${changedMeanwhile(path)}\nNothing was written.`);
}

function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new OperatorError('Aborted', 'stopped: nothing was written');
}

async function stage(place: string, text: string, undos: Undo[]): Promise<string> {
  return whileWriting(place, async () => {
    const made = await mkdir(dirname(place), { recursive: true });
    if (made !== undefined) undos.push(() => removeFolders(made, dirname(place)));
    undos.push(() => rm(stagedPath(place), { force: true }));
    return stageText(place, text);
  });
}

/** Removes the empty folders from `deepest` up to `first`, which this program created. */
async function removeFolders(first: string, deepest: string): Promise<void> {
  await rmdir(deepest);
  if (relative(first, deepest) !== '') await removeFolders(first, dirname(deepest));
}

interface ScaffoldReport {
  /** Folder of the project, absolute. */
  readonly folder: string;
  readonly dryRun: boolean;
  readonly files: readonly PlannedFile[];
  readonly left: readonly string[];
  readonly next: readonly string[];
}

/** The words for the actions in reports after the files have been written. */
export const done: Readonly<Record<PlannedFile['action'], string>> = {
  ...{ create: 'created', overwrite: 'overwrote', change: 'changed' },
  ...{ keep: 'kept', delete: 'deleted' },
};

function reportText(report: ScaffoldReport, output: Output): string {
  const { folder, dryRun, files, left } = report;
  const next = [...left, ...report.next];
  if (output === 'json') {
    const said = files.map(({ path, action, note }) => ({ path, action, note }));
    return `${JSON.stringify({ folder, dryRun, files: said, next }, undefined, 2)}\n`;
  }
  const lines = files.flatMap((file) => {
    const note = file.note === undefined ? '' : ` (${file.note})`;
    const what = dryRun ? `would ${file.action}` : done[file.action];
    const line = `${what} ${file.path}${note}`;
    return dryRun && file.action === 'change' ? [line, ...addedLines(file)] : [line];
  });
  const later = left.length === 0 ? [] : ['', 'Left to you:', ...left.map((one) => `  ${one}`), ''];
  const then = dryRun
    ? [...later, 'Nothing was written.']
    : ['', 'Next:', ...next.map((one) => `  ${one}`)];
  return `${[...lines, ...then].join('\n')}\n`;
}

/** Returns the lines that a file did not have before; removed lines are not shown. */
function addedLines({ before = '', text }: PlannedFile): readonly string[] {
  const known = new Set(before.split('\n'));
  return text
    .split('\n')
    .filter((line) => !known.has(line))
    .map((line) => `  + ${line}`);
}
