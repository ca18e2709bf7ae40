import { writeFile } from 'node:fs/promises';
import type { CommandContext } from './command-context.js';
import { whileWriting } from './file-error.js';

/**
 * Writes the result of a command.
 * @param file - undefined: the standard output
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
  await whileWriting(file, () => writeFile(file, text));
}
