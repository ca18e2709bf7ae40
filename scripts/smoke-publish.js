// Checks that npm would publish the manifests of both packages unchanged: npm silently corrects invalid ones.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');

for (const directory of ['.', 'create-operator-builder']) {
  const cwd = resolve(root, directory);
  // --force: npm 11 refuses even a dry run of a version that the registry has.
  const args = ['publish', '--dry-run', '--force', '--json', '--ignore-scripts'];
  const { status, stdout, stderr } = spawnSync('npm', [...args, '--access', 'public'], {
    cwd,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  assert.doesNotMatch(stderr, /errors corrected|No bin file found/);
  const printed = JSON.parse(stdout);
  // npm 11 prints the packages by name, earlier ones the package alone.
  const { id, files } = 'id' in printed ? printed : Object.values(printed)[0];
  const names = files.map(({ path }) => path);
  for (const name of ['README.md', 'LICENSE', 'package.json']) assert.ok(names.includes(name), id);
  console.log(`${id} can be published: ${files.length} files`);
}
