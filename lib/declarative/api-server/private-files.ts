import { constants, copyFile, rename, rm, writeFile } from 'node:fs/promises';
import { OperatorError } from '../../system/operator-error.js';
import { systemRandom } from '../../system/random.js';

/** Read and write for the owner only. */
const mode = 0o600;

/**
 * Writes files that only their owner can read. All are written beside their places first, so that a
 * full disk changes nothing.
 * @param texts - by path. @param options - `force`: replace what is there; a link is replaced, not
 * followed.
 * @throws OperatorError `InvalidOption`: a file is there, and `force` is not given.
 */
export async function writePrivateFiles(
  texts: ReadonlyMap<string, string>,
  { force }: { readonly force: boolean },
): Promise<void> {
  const drafts = [...texts].map(([path, text]) => ({
    ...{ path, text },
    draft: `${path}.${systemRandom.uuid()}`,
  }));
  try {
    // A new file, or none: the mode counts only where the file is new.
    for (const { draft, text } of drafts) await writeFile(draft, text, { mode, flag: 'wx' });
    for (const { draft, path } of drafts) {
      await (force ? rename(draft, path) : placeNew(draft, path));
    }
  } finally {
    await Promise.all(drafts.map(({ draft }) => rm(draft, { force: true })));
  }
}

/** Returns the error for a file that must not be overwritten. */
export function existsAlready(path: string, cause?: unknown): OperatorError {
  const message = `${path} exists already: give force (--force) to replace it`;
  return new OperatorError('InvalidOption', message, { cause });
}

async function placeNew(draft: string, path: string): Promise<void> {
  try {
    await copyFile(draft, path, constants.COPYFILE_EXCL);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') throw existsAlready(path, cause);
    throw cause;
  }
}
