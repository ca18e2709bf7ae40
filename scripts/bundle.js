// Bundles modules of lib/ into dist/, with shared code in chunks. Importing five hundred small files instead takes
// a third longer.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { build } from 'esbuild';

/** Bundles the modules as in the published package; `options` are passed to esbuild. */
export function bundle(entryPoints, options = {}) {
  return build({
    entryPoints,
    outdir: 'dist',
    outbase: 'lib',
    bundle: true,
    splitting: true,
    // Two folders deep, like the source of the module that finds templates/ relative to its own path.
    chunkNames: 'chunks/js/[name]-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    plugins: [{ name: 'past-doors', setup: importPastDoors }],
    // Not bundled, so that the bundler of an operator sees the `require` in re2.cjs.
    external: ['#re2'],
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
    ...options,
  });
}

/**
 * Replaces imports from the door of a folder by imports from the files that define the names. For esbuild, an
 * import of one name from a door uses all files behind it, so that an entry would load the whole folder.
 */
function importPastDoors({ onLoad }) {
  const names = String.raw`\{([^{}]*)\}`;
  const door = String.raw`'(\.[^']*/(?:index|internal)\.js)'`;
  const statement = new RegExp(`^(import|export) ${names} from ${door};`, 'gm');
  const dynamic = new RegExp(`(${names}\\s*=\\s*await import\\()${door}`, 'g');
  onLoad({ filter: /[\\/]lib[\\/].*\.ts$/ }, ({ path }) => {
    const contents = readFileSync(path, 'utf8')
      .replace(statement, (whole, keyword, list, from) => {
        const imports = namesIn(list).map(([name, alias]) => {
          const [file, own] = definitionOf(resolve(path, '..', from), name);
          const binding = own === '*' ? `* as ${alias}` : `{ ${own} as ${alias} }`;
          return `${keyword} ${binding} from ${JSON.stringify(file)};`;
        });
        // Keeps the number of lines for the source map.
        return imports.join(' ') + whole.replace(/[^\n]/g, '');
      })
      .replace(dynamic, (whole, start, list, from) => {
        const wanted = namesIn(list.replaceAll(': ', ' as '));
        const found = wanted.map(([name]) => definitionOf(resolve(path, '..', from), name));
        const isPlain = found.every(
          ([file, own], i) => file === found[0][0] && own === wanted[i][0],
        );
        if (!isPlain)
          throw new Error(`${path}: names of several files in ${whole}; import them apart`);
        return start + JSON.stringify(found[0][0]);
      });
    return { contents, loader: 'ts' };
  });
}

/** Returns the file that defines an exported name of `module`, and its name there; `*` for a whole namespace. */
function definitionOf(module, name) {
  const file = module.replace(/\.js$/, '.ts');
  const reExport = /^export (?:\{([^{}]*)\}|\* as (\w+)) from '(\.[^']*)';/gm;
  for (const [, list, namespace, from] of readFileSync(file, 'utf8').matchAll(reExport)) {
    const target = resolve(file, '..', from);
    if (namespace === name) return [target.replace(/\.js$/, '.ts'), '*'];
    const match = namesIn(list ?? '').find(([, alias]) => alias === name);
    if (match) return definitionOf(target, match[0]);
  }
  return [file, name];
}

/** Returns pairs of name and alias from the list of an import or export, without types. */
function namesIn(list) {
  return list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && !part.startsWith('type '))
    .map((part) => part.split(' as '))
    .map(([name, alias = name]) => [name, alias]);
}
