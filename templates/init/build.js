// Bundles the operator with all that it needs into dist/: what the image holds, and nothing else.
import { rmSync } from 'node:fs';
import { build } from 'esbuild';

rmSync('dist', { recursive: true, force: true });
await build({
  entryPoints: ['src/main.ts'],
  outdir: 'dist',
  bundle: true,
  // No splitting: of a package that is no ES module, a file of its own exports nothing by name.
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  sourcemap: true,
  // Packages that are no ES modules call require.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  logLevel: 'warning',
});
