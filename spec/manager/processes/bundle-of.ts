import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const repository = new URL('../../../', import.meta.url);
const bundles = new Map<string, string>();

/**
 * Bundles a program of these specs into one JavaScript file, once in each process.
 * Dozens of processes start with it, and loading hundreds of modules takes each a second of CPU
 * time.
 * @param program - a TypeScript file that reads no files beside it; those of lib/ are found
 */
export function bundleOf(program: URL): string {
  const path = fileURLToPath(program);
  const known = bundles.get(path);
  if (known !== undefined) return known;
  // Within node_modules, so that the bundle finds packages. Each process has its own.
  const name = path.replaceAll(/[^\w-]+/g, '-').slice(-60);
  const outfile = fileURLToPath(
    new URL(`node_modules/.cache/specs/${process.pid}${name}.mjs`, repository),
  );
  buildSync({
    ...{ entryPoints: [path], outfile, bundle: true, packages: 'external' },
    ...{ platform: 'node', format: 'esm', target: 'node20', logLevel: 'silent' },
    // With this tsconfig, a program outside of the repository also finds this package in lib/.
    tsconfig: fileURLToPath(new URL('tsconfig.json', repository)),
    // `re2.cjs` requires a package, which a bundle of ES modules can't do by itself.
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(${JSON.stringify(repository.href)});`,
    },
    // Modules of lib/ read data files by a path relative to their own, which is two folders deep.
    define: {
      'import.meta.url': JSON.stringify(new URL('lib/crd/openapi/any.js', repository).href),
    },
  });
  bundles.set(path, outfile);
  process.once('exit', () => rmSync(outfile, { force: true }));
  return outfile;
}
