// Bundles the operator with all that it needs into dist/: what the image holds, and nothing else.
import { rmSync } from 'node:fs';
import { build } from 'esbuild';

const banner = `
import { createRequire as requireOf } from 'node:module';
import { setFlagsFromString } from 'node:v8';
// Packages that are no ES modules call require.
const require = requireOf(import.meta.url);
// The HTTP parser is WebAssembly. Optimizing it takes 40 MB of memory, for nothing that an operator notices.
setFlagsFromString('--liftoff-only');
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
