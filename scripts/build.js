// Builds lib/ into dist/: the types of each module that an export needs with tsc, and the modules that package.json
// names with esbuild.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { bundle } from './bundle.js';

rmSync('dist', { recursive: true, force: true });
execFileSync('npx', ['tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
const { exports, bin = {} } = JSON.parse(readFileSync('package.json', 'utf8'));
removeUnreachableTypes(Object.values(exports).flatMap((entry) => entry.types ?? []));
const named = [
  ...Object.values(exports).map((entry) => entry.default),
  ...Object.values(bin),
  // The package create-operator-builder loads it.
  'dist/cli/create-operator-builder.js',
];
await bundle(
  named
    .filter((path) => path !== undefined)
    .map((path) => path.replace(/^(?:\.\/)?dist\//, './lib/').replace(/\.js$/, '.ts')),
);

/** Removes the declarations in dist/ that the given ones do not import: almost a third of their size. */
function removeUnreachableTypes(entries) {
  const { NodeNext } = ts.ModuleKind;
  const program = ts.createProgram(entries, { module: NodeNext, target: ts.ScriptTarget.ES2022 });
  const reached = new Set(program.getSourceFiles().map((file) => resolve(file.fileName)));
  for (const name of readdirSync('dist', { recursive: true }))
    if (name.endsWith('.d.ts') && !reached.has(resolve('dist', name))) rmSync(join('dist', name));
}
