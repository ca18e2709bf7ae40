import { readFile } from 'node:fs/promises';
import { fileError } from './file-error.js';

/** Reads a text file. @throws OperatorError `InvalidConfig`: it can't be read */
export async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw fileError(file, 'read', error);
  }
}
