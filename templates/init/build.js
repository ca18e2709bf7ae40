// Bundles the operator with all that it needs into dist/: what the image holds, and nothing else.
import { rmSync } from 'node:fs';
import { build } from 'esbuild';

const banner = `
import { createRequire as requireOf } from 'node:module';
// Packages that are no ES modules call require.
const require = requireOf(import.meta.url);
`;

rmSync('dist', { recursive: true, force: true });
await build({
  entryPoints: ['src/main.ts'],
  outdir: 'dist',
  bundle: true,
  // No splitting: of a package that is no ES module, a file of its own exports nothing by name.
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // For `npm start` and debuggers. The image goes without: Node.js would hold 60 MB for it.
  sourcemap: true,
  sourcesContent: false,
  banner: { js: banner.trim() },
  logLevel: 'warning',
});
