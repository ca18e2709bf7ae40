// Builds lib/ into dist/: the types of each module with tsc, and the modules that package.json names with
// esbuild.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { bundle } from './bundle.js';

rmSync('dist', { recursive: true, force: true });
execFileSync('npx', ['tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
const { exports, bin = {} } = JSON.parse(readFileSync('package.json', 'utf8'));
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
