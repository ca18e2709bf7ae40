// Measures an installation of the packed package, with and without its optional dependencies, as in the image of an
// operator that is not bundled. Checks that an operator runs without them, and that features that need one of them name
// it.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const megabyte = 1_000_000;
const limit = 25 * megabyte;
const root = resolve(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'smoke-size-'));

const npm = (...args) => execFileSync('npm', args, { cwd: folder, encoding: 'utf8' });
const node = (args, input) =>
  spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', input });

/** Returns the bytes of all files in `node_modules`. */
function installedSize() {
  return readdirSync(join(folder, 'node_modules'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).size)
    .reduce((sum, size) => sum + size, 0);
}

const rounded = (bytes) => `${(bytes / megabyte).toFixed(1)} MB`;

function checkErrors() {
  const program = 'node_modules/operator-builder/dist/cli/main.js';
  const maps = { apiGroup: '', kind: 'ConfigMap' };
  const pipeline = { '@project': { metadata: { name: 'copy' }, data: '$.data' } };
  const controller = { name: 'copy', sources: [maps], pipeline, target: maps };
  const operator = JSON.stringify({ controllers: [controller] });
  const { status, stderr } = node([program, 'graph', '-', '-f', 'svg'], operator);
  assert.equal(status, 1);
  assert.match(stderr, /@viz-js\/viz.*install it/);
  assert.equal(node([program, 'graph', '-'], operator).status, 0);
  const text = JSON.stringify({
    'current-context': 'one',
    contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
    clusters: [{ name: 'one', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'one', user: { 'auth-provider': { name: 'oidc' } } }],
  });
  writeFileSync(join(folder, 'kubeconfig'), text);
  const code =
    "await (await import('operator-builder')).clientFromKubeConfig({ path: 'kubeconfig' });";
  assert.match(node(['-e', code]).stderr, /needs the package @kubernetes\/client-node/);
}

try {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const [{ filename, size, unpackedSize }] = JSON.parse(
    npm('pack', root, '--json', '--ignore-scripts'),
  );
  console.log(`package: ${rounded(size)}, ${rounded(unpackedSize)} unpacked`);
  npm('install', '--no-audit', '--no-fund', `./${filename}`);
  console.log(`installed: ${rounded(installedSize())}`);
  npm('prune', '--omit=optional');
  const installed = installedSize();
  console.log(`installed with --omit=optional: ${rounded(installed)}`);
  assert.ok(installed < limit, `want less than ${limit} bytes, got ${installed}`);
  cpSync(join(root, 'scripts/smoke-package.js'), join(folder, 'smoke-package.js'));
  const { status, stderr } = node(['smoke-package.js']);
  assert.equal(status, 0, stderr);
  checkErrors();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log('an operator runs without the optional packages');
