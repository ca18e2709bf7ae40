import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const folder = 'config/samples';

/** The custom resources that a project has as samples; none where there is no such folder. */
export async function sampleFiles(root: string): Promise<readonly string[]> {
  const names = await readdir(join(root, folder)).catch(() => []);
  return names
    .filter((name) => /\.(?:ya?ml|json)$/.test(name) && !/^kustomization\./.test(name))
    .toSorted()
    .map((name) => join(root, folder, name));
}
