import { rename, rm, writeFile } from 'node:fs/promises';
import { systemRandom } from '../../system/random.js';
import { OperatorError } from '../../system/operator-error.js';

/** Only for the owner of the file. */
const mode = 0o600;

/**
 * Writes a file that only its owner can read.
 * @param options - `force`: replace what is there; a link is replaced, not followed.
 * @throws OperatorError `InvalidOption`: the file is there, and `force` is not given.
 */
export async function writePrivateFile(
  path: string,
  text: string,
  { force }: { readonly force: boolean },
): Promise<void> {
  if (force) return replaceFile(path, text);
  try {
    // Made by this call or not at all: the mode counts only where the file is new.
    await writeFile(path, text, { mode, flag: 'wx' });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') throw existsAlready(path, cause);
    throw cause;
  }
}

/** What is said of a file that must not be overwritten. */
export function existsAlready(path: string, cause?: unknown): OperatorError {
  const message = `${path} exists already: give force to replace it`;
  return new OperatorError('InvalidOption', message, { cause });
}

async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${systemRandom.uuid()}`;
  try {
    await writeFile(draft, text, { mode, flag: 'wx' });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
