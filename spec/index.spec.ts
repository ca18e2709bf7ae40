import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../lib');

/** The packages that a file loads as soon as it is imported, with all that it imports in turn. */
function packagesLoadedBy(entry: string): Set<string> {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const specifier of staticImports(readFileSync(file, 'utf8'))) {
      if (specifier.startsWith('.')) {
        visit(join(dirname(file), specifier.replace(/\.js$/, '.ts')));
      } else packages.add(specifier);
    }
  };
  visit(join(root, entry));
  return packages;
}

/** Returns the specifiers of `import` and `export … from`; compiling removes `import type`. */
function staticImports(code: string): string[] {
  const pattern = /^(?:import|export)\s(?!type\b)(?:[^'";]*\sfrom\s)?'([^']+)'/gm;
  return [...code.matchAll(pattern)].flatMap(([, specifier]) => specifier ?? []);
}

describe('The entry points', () => {
  for (const entry of ['index.ts', 'apiserver/index.ts']) {
    it(`${entry} loads no client-node, undici or prom-client before they are needed`, () => {
      const packages = packagesLoadedBy(entry);
      expect([...packages]).to.include('node:crypto');
      expect(
        [...packages].filter((name) => /client-node|undici|prom-client/.test(name)),
      ).to.deep.equal([]);
    });
  }

  it('cli/main.ts loads no package before it knows which version of the program is to run', () => {
    const packages = [...packagesLoadedBy('cli/main.ts')];
    expect(packages.filter((name) => !name.startsWith('node:'))).to.deep.equal([]);
  });
});
