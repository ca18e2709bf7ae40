import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { editText } from './edit-text.js';
import type { EditStep, WriteStep } from './page-steps.js';

/**
 * Writes or changes a file in `folder`.
 * @throws Error the file to change does not exist, or does not contain the lines to change
 */
export async function changeFile(step: WriteStep | EditStep, folder: string): Promise<void> {
  const path = join(folder, step.path);
  const text =
    step.type === 'write' ? step.text : editText(await readFile(path, 'utf8'), step.diff);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
