// Checks the packed package in each supported runtime, with each supported compiler, and in the test runners that
// projects use: `npm run runtimes`. Words after `--` select the checks whose name contains one of them. Installs
// everything into a temporary folder. Prints a line for each check, and fails if one of them fails.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');
const folder = await mkdtemp(join(tmpdir(), 'runtimes-'));
const wanted = process.argv.slice(2);

/** Runs a command in the folder of the consumer. The words are separated by spaces. */
const command = (words) => run('npx', ['--yes', ...words.split(' ')], { cwd: folder });

const nodes = ['20', '22', '24', '26'];
const compilers = ['5.4', '5.5', '5.6', '5.7', '5.8', '5.9', '6.0', '7.0'];
const resolutions = { node16: 'node16', nodenext: 'nodenext', preserve: 'bundler' };

/** Name and command of each check. */
const checks = [
  ...nodes.map((version) => [
    `Node ${version}`,
    () => command(`-p node@${version} node smoke-package.js`),
  ]),
  ['Deno', () => command('deno run --allow-all smoke-package.js')],
  ['Bun', () => command('bun smoke-package.js')],
  ...compilers.flatMap((version) =>
    Object.entries(resolutions).map(([module, resolution]) => [
      `TypeScript ${version}, module ${module}`,
      () =>
        compile(version, `tsconfig-${version}-${module}.json`, {
          module,
          moduleResolution: resolution,
        }),
    ]),
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
];

/** Type-checks the consumer without `skipLibCheck`, so that the types of this package count as well. */
async function compile(version, project, options) {
  const path = join(folder, project);
  const compilerOptions = {
    ...{ target: 'es2022', strict: true, exactOptionalPropertyTypes: true },
    ...{ noEmit: true, skipLibCheck: false, types: ['node'], ...options },
  };
  await writeFile(path, JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  await command(`-p typescript@${version} tsc -p ${project}`);
}

async function prepare() {
  await run('npm', ['run', '--silent', 'build'], { cwd: root });
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
  const types = ['@types/node', '@opentelemetry/api'].map(
    (name) => `${name}@${devDependencies[name]}`,
  );
  const runners = ['deno', 'bun', 'vitest', 'jest'];
  const install = ['install', '--no-audit', '--no-fund', `./${filename}`, ...types, ...runners];
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
