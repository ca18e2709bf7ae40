import { constants, copyFile, rename, rm, writeFile } from 'node:fs/promises';
import { OperatorError } from '../../system/operator-error.js';
import { systemRandom } from '../../system/random.js';

/** Readable and writable for the owner only. */
const mode = 0o600;

/**
 * Writes files that only their owner can read. Drafts of all files are written first, so that a full disk
 * changes nothing.
 * @param texts - the texts by path
 * @param options - `force`: replace existing files; a link is replaced, not followed.
 * @throws OperatorError `InvalidOption`: a file exists and `force` is not set.
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
    // Fail if the draft exists: the mode applies to new files only.
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
