// Bundles modules of lib/ into dist/, with what they share in chunks. Five hundred small files take a third
// longer to import.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { build } from 'esbuild';

/** Bundles the modules as the package has them; `options` go to esbuild. */
export function bundle(entryPoints, options = {}) {
  return build({
    entryPoints,
    outdir: 'dist',
    outbase: 'lib',
    bundle: true,
    splitting: true,
    // Two folders deep, like the module that reads templates/ by a path relative to its own.
    chunkNames: 'chunks/js/[name]-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    plugins: [{ name: 'past-doors', setup: importPastDoors }],
    // Bundlers of operators must see its `require`.
    external: ['#re2'],
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
    ...options,
  });
}

/**
 * Replaces imports from the door of a folder by imports from the files that define the names. To esbuild an
 * entry that imports one name of a door uses all files behind it, and would load the whole folder.
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
        // As many lines as before, for the source map.
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

/** Returns the file that defines a name which `module` exports, and the name there, `*` for the file as a whole. */
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

/** Pairs of name and alias in a list of an import or export, without types. */
function namesIn(list) {
  return list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && !part.startsWith('type '))
    .map((part) => part.split(' as '))
    .map(([name, alias = name]) => [name, alias]);
}
