// Builds lib/ into dist/: the types of each module by tsc, and the modules that package.json names by
// esbuild, with what they share in chunks. Five hundred small files take a third longer to import. Then
// the data files that the embedded server reads at run time.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

rmSync('dist', { recursive: true, force: true });
execFileSync('npx', ['tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
const { exports, bin = {} } = JSON.parse(readFileSync('package.json', 'utf8'));
const named = [...Object.values(exports).map((entry) => entry.default), ...Object.values(bin)];
await build({
  entryPoints: named
    .filter((path) => path !== undefined)
    .map((path) => path.replace('./dist/', './lib/').replace(/\.js$/, '.ts')),
  outdir: 'dist',
  outbase: 'lib',
  bundle: true,
  splitting: true,
  // Two folders deep, as the modules are that read data files by a path relative to their own.
  chunkNames: 'chunks/js/[name]-[hash]',
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  packages: 'external',
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
});
for (const folder of readdirSync('lib')) {
  const data = `lib/${folder}/data`;
  if (existsSync(data)) cpSync(data, `dist/${folder}/data`, { recursive: true });
}
