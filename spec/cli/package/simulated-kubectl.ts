import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';

/**
 * A program that stands in for kubectl: `kubectl kustomize FOLDER` prints the file `objects` of the folder, and those
 * of the folders beside it that its kustomization names. It fails with the text of a file `failure`.
 */
const script = `#!/bin/sh
if [ -f "$2/failure" ]; then
  sed "s#FOLDER#$2#" "$2/failure" >&2
  exit 1
fi
cat "$2/objects"
for part in $(grep -ho '\\.\\./[a-z-]*' "$2"/[kK]ustomization* 2>/dev/null); do
  cat "$2/$part/objects"
done
`;

/** Puts the simulated kubectl on the PATH while the specs of one `describe` run. */
export function simulateKubectl(file: (...names: string[]) => string): void {
  const { PATH = '' } = process.env;
  before(async () => {
    await mkdir(file('programs'), { recursive: true });
    await writeFile(file('programs/kubectl'), script);
    await chmod(file('programs/kubectl'), 0o755);
    process.env['PATH'] = `${file('programs')}${delimiter}${PATH}`;
  });
  after(() => {
    process.env['PATH'] = PATH;
  });
}

/** Writes the objects of a folder of `config`, as the simulated kubectl prints them. */
export async function writeObjects(
  folder: string,
  objects: readonly object[],
  kustomization: object = {},
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const text = objects.map((object) => `---\n${JSON.stringify(object)}\n`).join('');
  await writeFile(join(folder, 'objects'), text);
  await writeFile(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
}

/** Writes a file and the folders above it. */
export async function writeText(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
