// Checks the packed package in each supported runtime, with each supported compiler, and in the test runners that
// projects use: `npm run runtimes`. Words after `--` select the checks whose name contains one of them. Installs
// everything into a temporary folder. Prints a line for each check, and fails if one of them fails.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');
const folder = await mkdtemp(join(tmpdir(), 'runtimes-'));
const wanted = process.argv.slice(2);
/** The packed package, and packages that its types need, with their versions. */
const packages = {};

/** Runs a command in the folder of the consumer, or another one. The words are separated by spaces. */
const command = (words, cwd = folder) => run('npx', ['--yes', ...words.split(' ')], { cwd });

const nodes = ['20', '22', '24', '26'];
const compilers = ['5.4', '5.5', '5.6', '5.7', '5.8', '5.9', '6.0', '7.0'];
/** The versions of client-node that a project may have beside the package, and how each project installs. */
const clientNodes = {
  'client-node 1.4': { range: '~1.4.0', install: 'npm install --no-audit --no-fund' },
  'client-node 2': { range: '^2.0.1', install: 'npm install --no-audit --no-fund' },
  'client-node 2, pnpm': { range: '^2.0.1', install: 'pnpm@10 install --store-dir .store' },
};
/** Module resolutions that only some of the compilers check, in addition to `nodenext`, which all of them check. */
const otherResolutions = { node16: 'node16', preserve: 'bundler' };
const compilersWithAllResolutions = ['5.4', '6.0', '7.0'];

/** Name and command of each check. */
const checks = [
  ...nodes.map((version) => [
    `Node ${version}`,
    () => command(`-p node@${version} node smoke-package.js`),
  ]),
  ['Deno', () => command('deno run --allow-all smoke-package.js')],
  ['Bun', () => command('bun smoke-package.js')],
  ...compilers.map((version) => compilation(version, 'nodenext', 'nodenext')),
  ...compilersWithAllResolutions.flatMap((version) =>
    Object.entries(otherResolutions).map(([module, resolution]) =>
      compilation(version, module, resolution),
    ),
  ),
  ...compilers
    .filter((version) => Number(version) >= 5.8)
    .map((version) => [
      `TypeScript ${version}, CommonJS`,
      () => compile(version, `commonjs/tsconfig-${version}.json`, { module: 'nodenext' }),
    ]),
  ['CommonJS, Node 20', () => command('-p node@20 node commonjs/use.cjs')],
  ['vitest', () => command('vitest run runner.test.js')],
  [
    'jest, ES modules',
    () => command('-p node@20 node --experimental-vm-modules node_modules/jest/bin/jest.js'),
  ],
  ['client-node 1.4 by default', () => checkDefault()],
  ['client-node 1.4, Node 20', () => besideClientNode('client-node 1.4', '20', 'out/main.js')],
  ['client-node 2, one copy', () => checkOneCopy()],
  // client-node 2 needs Node 22.19. The package loads it for the credentials `auth-provider` only.
  ['client-node 2, Node 20', () => besideClientNode('client-node 2', '20', 'smoke-package.js')],
  ...['22', '24', '26'].map((version) => [
    `client-node 2, Node ${version}`,
    () => besideClientNode('client-node 2', version, 'out/main.js'),
  ]),
  [
    'client-node 2, pnpm, Node 24',
    () => besideClientNode('client-node 2, pnpm', '24', 'out/main.js'),
  ],
  ...['5.4', '5.7', '7.0'].map((version) => [
    `client-node 2, TypeScript ${version}`,
    async () => {
      const cwd = await projectWith('client-node 2');
      // Types of its dependency js-yaml 5 need TypeScript 5.7.
      const options = { module: 'nodenext', skipLibCheck: Number(version) < 5.7 };
      await compile(version, `tsconfig-${version}.json`, options, cwd);
    },
  ]),
];

/** Returns the check that the consumer compiles as modules of `module`. */
function compilation(version, module, moduleResolution) {
  const project = `tsconfig-${version}-${module}.json`;
  const check = () => compile(version, project, { module, moduleResolution });
  return [`TypeScript ${version}, module ${module}`, check];
}

/** Type-checks the consumer without `skipLibCheck`, so that the types of this package count as well. */
async function compile(version, project, options, cwd = folder) {
  const path = join(cwd, project);
  const compilerOptions = {
    ...{ target: 'es2022', strict: true, exactOptionalPropertyTypes: true },
    ...{ noEmit: true, skipLibCheck: false, types: ['node'], ...options },
  };
  await writeFile(path, JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  await command(`-p typescript@${version} tsc -p ${project}`, cwd);
}

/** Projects that have client-node beside the package, by the names of `clientNodes`; made at the first use. */
const projects = new Map();

function projectWith(name) {
  if (!projects.has(name)) projects.set(name, makeProject(name));
  return projects.get(name);
}

/** Installs a project, and compiles its operator into `out/`. Returns its folder. */
async function makeProject(name) {
  const { range, install } = clientNodes[name];
  const cwd = join(folder, name.replaceAll(/\W+/g, '-'));
  await mkdir(cwd);
  for (const path of ['root.ts', 'entries.ts', 'client-node/main.ts', '../smoke-package.js']) {
    const source = join(root, 'scripts/consumer', path);
    await cp(source, join(cwd, basename(path)));
  }
  const dependencies = { ...packages, '@kubernetes/client-node': range };
  await writeFile(join(cwd, 'package.json'), JSON.stringify({ type: 'module', dependencies }));
  await command(install, cwd);
  await compile('6.0', 'tsconfig.json', { module: 'nodenext', noEmit: false, outDir: 'out' }, cwd);
  return cwd;
}

/** Runs a program of a project that has client-node beside the package. */
async function besideClientNode(name, version, program) {
  const cwd = await projectWith(name);
  await command(`-p node@${version} node ${program}`, cwd);
}

const clientNodeIn = (path) => join(path, 'node_modules/@kubernetes/client-node/package.json');

/** Projects that do not name client-node get the version that runs on all supported versions of Node. */
async function checkDefault() {
  const { version } = JSON.parse(await readFile(clientNodeIn(folder), 'utf8'));
  assert.match(version, /^1\./);
}

async function checkOneCopy() {
  const cwd = await projectWith('client-node 2');
  const { version } = JSON.parse(await readFile(clientNodeIn(cwd), 'utf8'));
  assert.match(version, /^2\./);
  assert.ok(!existsSync(clientNodeIn(join(cwd, 'node_modules/operator-builder'))));
}

async function prepare() {
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run('npm', pack, { cwd: root });
  const [{ filename }] = JSON.parse(stdout);
  await cp(join(root, 'scripts/consumer'), folder, { recursive: true });
  // The same sources, in a folder whose files are CommonJS.
  await cp(join(root, 'scripts/consumer/root.ts'), join(folder, 'commonjs/root.ts'));
  await cp(join(root, 'scripts/smoke-package.js'), join(folder, 'smoke-package.js'));
  const { devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const manifest = { type: 'module', jest: { testMatch: ['**/runner.test.js'], transform: {} } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  packages['operator-builder'] = `file:${join(folder, filename)}`;
  for (const name of ['@types/node', '@opentelemetry/api']) packages[name] = devDependencies[name];
  const named = Object.entries(packages).map(([name, range]) => `${name}@${range}`);
  const runners = ['deno', 'bun', 'vitest', 'jest'];
  const install = ['install', '--no-audit', '--no-fund', ...named, ...runners];
  await run('npm', install, { cwd: folder });
}

/** Runs the next check until none is left. Two workers run at once, as most checks use one core. */
async function work(remaining) {
  for (const [name, check] of remaining) {
    try {
      await check();
      console.log(`passes  ${name}`);
    } catch (error) {
      process.exitCode = 1;
      console.log(`fails   ${name}\n${error.stdout ?? ''}${error.stderr ?? error}`);
    }
  }
}

try {
  await prepare();
  const isWanted = ([name]) => wanted.length === 0 || wanted.some((word) => name.includes(word));
  const remaining = checks.filter(isWanted).values();
  await Promise.all([work(remaining), work(remaining)]);
} finally {
  await rm(folder, { recursive: true });
}
