import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { WatchedPaths } from '../watch-files.js';

const sources = /\.(?:[cm]?[jt]s|json)$/;

/**
 * Returns the possible source files of an operator: all below `src`, even those not yet imported, and the
 * imported files elsewhere.
 * @param imported - absolute
 */
export async function sourceFiles(
  root: string,
  imported: readonly string[],
): Promise<WatchedPaths> {
  const folder = join(root, 'src');
  // The folder is missing while it is moved.
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const below = (wanted: (entry: (typeof entries)[0]) => boolean): readonly string[] =>
    entries.filter(wanted).map((entry) => join(entry.parentPath, entry.name));
  const files = below((entry) => entry.isFile() && sources.test(entry.name));
  const directories = [folder, ...below((entry) => entry.isDirectory())];
  return { files: [...new Set([...files, ...imported])].toSorted(), directories };
}
