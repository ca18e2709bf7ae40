// Compiles a package that exports results of functions of the built package, and emits its declarations. The
// compiler must find a name for each type in an entry; otherwise users get TS2883, TS4023 or TS2742.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'smoke-types-'));
const modules = join(folder, 'node_modules');
const { exports, ...manifest } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const dependencies = { ...manifest.dependencies, ...manifest.optionalDependencies };

// A copy, since the compiler names a linked package by its real path.
for (const name of ['package.json', 'dist']) {
  cpSync(join(root, name), join(modules, 'operator-builder', name), { recursive: true });
}
for (const name of [...Object.keys(dependencies), '@types/node', '@opentelemetry/api']) {
  mkdirSync(dirname(join(modules, name)), { recursive: true });
  symlinkSync(join(root, 'node_modules', name), join(modules, name));
}
cpSync(join(root, 'scripts/consumer'), folder, { recursive: true });
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
const compilerOptions = {
  ...{ target: 'es2022', module: 'node16', strict: true, exactOptionalPropertyTypes: true },
  ...{ declaration: true, emitDeclarationOnly: true, outDir: 'dist', types: ['node'] },
  skipLibCheck: false,
};
writeFileSync(
  join(folder, 'tsconfig.json'),
  JSON.stringify({ compilerOptions, include: ['*.ts'] }),
);

const compiler = join(root, 'node_modules/typescript/bin/tsc');
const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', folder], {
  encoding: 'utf8',
});
assert.equal(status, 0, stdout);
const declarations = readdirSync(join(folder, 'dist'))
  .map((name) => readFileSync(join(folder, 'dist', name), 'utf8'))
  .join('');
const named = new Set(declarations.match(/(?<=")operator-builder[^"]*/g));
const entries = Object.keys(exports).map((entry) => entry.replace('.', 'operator-builder'));
assert.deepEqual(
  [...named].filter((name) => !entries.includes(name)),
  [],
);
rmSync(folder, { recursive: true });
console.log(`the types of exported values are named by ${[...named].toSorted().join(', ')}`);
