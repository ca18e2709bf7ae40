import { mkdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { OperatorError } from '../../system/operator-error.js';
import { fileError, whileWriting } from '../file-error.js';
import type { PlannedFile } from './plan-files.js';

/** Reverts a step; steps are reverted in reverse order. */
type Undo = () => Promise<unknown>;

/**
 * Writes all files or none. Writes temporary files first and renames them at the end, so that most errors
 * occur before any change. Reverts everything after a failure or an abort.
 * @throws OperatorError `InvalidConfig`: a file can't be written. `Aborted`: `signal` was aborted.
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
      const place = join(folder, file.path);
      const temporary = await stage(place, file.text, undos);
      staged.push({ file, place, temporary });
    }
    for (const { file, place, temporary } of staged) {
      refuseAborted(signal);
      await putInPlace(temporary, place);
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

function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new OperatorError('Aborted', 'stopped: nothing was written');
}

async function stage(place: string, text: string, undos: Undo[]): Promise<string> {
  const temporary = join(dirname(place), `.${basename(place)}.operator-builder-new`);
  try {
    const made = await mkdir(dirname(place), { recursive: true });
    if (made !== undefined) undos.push(() => removeFolders(made, dirname(place)));
    undos.push(() => rm(temporary, { force: true }));
    await writeFile(temporary, text);
  } catch (error) {
    throw fileError(place, 'written', error);
  }
  return temporary;
}

async function putInPlace(temporary: string, place: string): Promise<void> {
  try {
    await rename(temporary, place);
  } catch (error) {
    throw fileError(place, 'written', error);
  }
}

/** Removes the empty folders from `deepest` up to `first`, which this program created. */
async function removeFolders(first: string, deepest: string): Promise<void> {
  await rmdir(deepest);
  if (relative(first, deepest) !== '') await removeFolders(first, dirname(deepest));
}
