// Bundles the operator with all its dependencies into dist/. The image contains only this bundle.
import { build } from 'esbuild';

const banner = `
import { createRequire as requireOf } from 'node:module';
// CommonJS packages in the bundle call require, which ES modules do not have.
const require = requireOf(import.meta.url);
`;

await build({
  entryPoints: ['src/main.ts'],
  outdir: 'dist',
  bundle: true,
  // Do not add `splitting`: a CommonJS package in a chunk of its own would have no named exports.
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Makes the image smaller. Names and line breaks stay, so that stack traces are readable.
  minifySyntax: true,
  // For `npm start` and debuggers. The image omits the source map, which would take Node.js 60 MB of memory.
  sourcemap: true,
  sourcesContent: false,
  banner: { js: banner.trim() },
  logLevel: 'warning',
});
