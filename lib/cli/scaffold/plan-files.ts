import { readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { OperatorError } from '../../system/operator-error.js';
import { fileError } from '../file-error.js';
import { withMergedImports } from './import-statements.js';
import { insert, missingMarkers } from './insertions.js';
import type { Insertion } from './insertions.js';

/** A command's request for a file. */
export type WantedFile = {
  /** Path in the project's folder, with slashes. */
  readonly path: string;
} & (
  | { readonly type: 'whole'; readonly text: string }
  /** Written only if missing: the user's file stays, even with `--force`. */
  | { readonly type: 'default'; readonly text: string }
  /** An existing file that the command has read and changed. */
  | { readonly type: 'edited'; readonly text: string }
  | { readonly type: 'insert'; readonly insertions: readonly Insertion[] }
  /** Deleted if it exists. */
  | { readonly type: 'delete' }
);

/** The planned change of a file. */
export interface PlannedFile {
  readonly path: string;
  readonly action: 'create' | 'overwrite' | 'change' | 'keep' | 'delete';
  /** Empty for a deleted file. */
  readonly text: string;
  /** Present text; undefined if the file does not exist. */
  readonly before: string | undefined;
  /** Advice for the user. */
  readonly note?: string;
}

/** Options of {@link planFiles}. */
export interface PlanOptions {
  /** Folder of the project. */
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
      if (before !== undefined) planned.push(goingFile(file.path, before));
      continue;
    }
    if (file.type === 'default' && before !== undefined) {
      planned.push(keptFile(file, before));
      continue;
    }
    const { path } = file;
    const text = path.endsWith('.ts') ? withMergedImports(file.text) : file.text;
    const action = actionOf(file.type, text, before);
    if (action === 'overwrite' && !force) taken.push(path);
    planned.push({ path, text, before, action });
  }
  if (taken.length > 0) {
    const remedy = '--force overwrites them';
    problems.unshift(`these files are there already (${remedy}): ${taken.join(', ')}`);
  }
  if (problems.length === 0) return planned;
  throw new OperatorError('InvalidConfig', `${problems.join('\n')}\nNothing was written.`);
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

function goingFile(path: string, before: string): PlannedFile {
  return { path, text: '', before, action: 'delete' };
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
    return `${path} is not there, and was to be changed: take it from your version control`;
  }
  const inserted = insert(before, insertions);
  if (inserted.type === 'markers-missing') {
    const remedy = 'add this where it belongs, or the marker alone, and run the command again';
    return `${path} has lost markers: ${remedy}\n${missingMarkers(path, inserted.missing)}`;
  }
  const { text } = inserted;
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
