import { lstatSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import {
  access,
  chmod,
  readFile,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { asError, OperatorError, isOperatorError } from '../system/index.js';
import type { CommandContext } from './command-context.js';

/** Reads a text file. @throws OperatorError `InvalidConfig`: it can't be read */
export async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw fileError(file, 'read', error);
  }
}

/**
 * Returns the names in a folder, sorted; empty if it does not exist.
 * @throws OperatorError `InvalidConfig`: it can't be read
 */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw fileError(folder, 'read', error);
  }
}

/** Returns the texts of all files below a folder, by path: relative, with slashes, sorted. */
export async function textsBelow(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  const texts = files.map(async (file) => {
    return [relative(folder, file).replaceAll(sep, '/'), await readText(file)] as const;
  });
  return new Map(await Promise.all(texts));
}

/**
 * Writes the result of a command.
 * @param file - the path of the file; undefined: the standard output
 * @throws OperatorError `InvalidConfig`: the file can't be written
 */
export async function writeResult(
  text: string,
  file: string | undefined,
  { stdout }: CommandContext,
): Promise<void> {
  if (file === undefined) {
    stdout.write(text);
    return;
  }
  await replaceText(file, text);
}

/**
 * Gives a file a new text. If that fails, the file keeps its text.
 * @throws OperatorError `InvalidConfig`: the file can't be written
 */
export async function replaceText(file: string, text: string): Promise<void> {
  await whileWriting(file, async () => {
    const found = statIfExists(file);
    // A device or a pipe can't be replaced.
    if (found !== undefined && !found.isFile()) return writeFile(file, text);
    const place = await placeOf(file);
    try {
      await rename(await stageText(place, text), place);
    } finally {
      await rm(stagedPath(place), { force: true });
    }
  });
}

/**
 * Returns the path to which the content of `file` is written: for a symbolic link its target, even if that does not
 * exist yet.
 */
export async function placeOf(file: string): Promise<string> {
  if (statIfExists(file) !== undefined) return realpath(file);
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return file;
  return placeOf(resolve(await realpath(dirname(file)), await readlink(file)));
}

/** Path of the next text of a file until it is complete: in the same folder, since it is then renamed to the file. */
export function stagedPath(file: string): string {
  return join(dirname(file), `.${basename(file)}.operator-builder-new`);
}

/** Writes the new text of a file to a temporary file, which later replaces the file. @returns its path */
export async function stageText(file: string, text: string): Promise<string> {
  const staged = stagedPath(file);
  await writeFile(staged, text);
  const found = statIfExists(file);
  if (found !== undefined) await chmod(staged, found.mode);
  return staged;
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EBUSY: 'it is in use',
  EEXIST: 'the file already exists',
  EFBIG: 'the file is too large',
  EISDIR: 'it is a directory',
  ENOENT: 'there is no such file or directory',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of its path is not a directory',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
};

/** Returns the error of a file that can't be read or written: the path and the cause. */
export function fileError(file: string, done: 'read' | 'written', thrown: unknown): OperatorError {
  const cause = asError(thrown);
  const { code = '' } = cause as NodeJS.ErrnoException;
  const reason = reasons[code] ?? cause.message;
  return new OperatorError('InvalidConfig', `${file} can't be ${done}: ${reason}`, { cause });
}

/** Returns the error of a file or folder with the wrong content. */
export function contentError(file: string, problem: string, cause?: unknown): OperatorError {
  return new OperatorError('InvalidConfig', `${file}: ${problem}`, { cause });
}

/**
 * Runs a function that writes a file, or files of a directory.
 * @param file - named in the error
 * @throws OperatorError `InvalidConfig`: it can't be written; other errors of the writer pass through
 */
export async function whileWriting<T>(file: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw isOperatorError(error) ? error : fileError(file, 'written', error);
  }
}

/**
 * Returns the state of a file or directory; undefined if the path leads to nothing.
 * @throws OperatorError `InvalidConfig`: the path can't be read
 */
export function statIfExists(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw fileError(path, 'read', error);
  }
}

/** Whether a file or directory exists and is accessible. */
export async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
