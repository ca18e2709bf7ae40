// Follows a newcomer from `npm create operator-builder` to the first reconcile, with both packages packed and installed
// like published ones. Prints the time.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';

const root = resolve(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'smoke-create-'));
const project = join(folder, 'shop-operator');
const creatorFolder = join(root, 'create-operator-builder');
const stdio = ['ignore', 'ignore', 'inherit'];

function pack(path) {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [{ filename }] = JSON.parse(execFileSync('npm', args, { cwd: path, encoding: 'utf8' }));
  return join(folder, filename);
}

const install = (cwd, ...packages) =>
  execFileSync('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd, stdio });

/** Runs the operator until it has reconciled the sample. */
async function firstReconcile() {
  // Not by npx, which would not pass the signal on.
  const program = join(project, 'node_modules/.bin/operator-builder');
  const operator = spawn(program, ['run', '--embedded'], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((end) => operator.once('close', end));
  let output = '';
  for await (const chunk of operator.stdout) {
    output += chunk;
    if (output.includes('Ready=True')) break;
  }
  operator.kill('SIGTERM');
  await ended;
  assert.match(output, /Shop default\/shop-sample {2}Ready=True/);
}

const manifestIn = (path) => JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
const { version } = manifestIn(root);
const creatorManifest = manifestIn(creatorFolder);
assert.equal(creatorManifest.version, version, 'both packages have one version');
assert.equal(creatorManifest.dependencies['operator-builder'], `^${version}`);

try {
  const [packed, creator] = [root, creatorFolder].map(pack);
  const begin = performance.now();
  // What `npm create` does; the registry does not have the packages.
  install(folder, packed, creator);
  const create = join(folder, 'node_modules/.bin/create-operator-builder');
  const help = execFileSync(create, ['--help'], { cwd: folder, encoding: 'utf8' });
  assert.match(help, /^Usage: create-operator-builder /);
  const options = ['--domain', 'example.com', '--package', `file:${packed}`];
  execFileSync(create, ['shop-operator', ...options], { cwd: folder, stdio });
  install(project);
  const kind = ['--group', 'shop', '--version', 'v1alpha1', '--kind', 'Shop'];
  const api = ['operator-builder', 'create', 'api', ...kind];
  execFileSync('npx', api, { cwd: project, stdio });
  execFileSync('npx', ['operator-builder', 'manifests'], { cwd: project, stdio });
  await firstReconcile();
  const seconds = (performance.now() - begin) / 1_000;
  console.log(`from npm create to the first reconcile: ${seconds.toFixed(0)} s`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
