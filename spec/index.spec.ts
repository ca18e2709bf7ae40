import { expect } from 'chai';
import { bundle } from '../scripts/bundle.js';

type Outputs = Readonly<Record<string, { readonly imports: readonly Import[] }>>;
interface Import {
  readonly path: string;
  readonly kind: string;
  readonly external?: boolean;
}

describe('The entry points', () => {
  let outputs: Outputs;

  before(async () => {
    const entries = ['lib/index.ts', 'lib/apiserver/index.ts', 'lib/cli/main.ts'];
    const { metafile } = await bundle(entries, { metafile: true, write: false });
    ({ outputs } = metafile);
  });

  /** The packages that a built file loads as soon as it is imported, with all that it imports in turn. */
  function packagesLoadedBy(entry: string): Set<string> {
    const packages = new Set<string>();
    const seen = new Set<string>();
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const { path, kind, external } of outputs[file]!.imports) {
        if (kind !== 'import-statement') continue;
        if (external === true) packages.add(path);
        else visit(path);
      }
    };
    visit(`dist/${entry}`);
    return packages;
  }

  for (const [entry, late] of [
    ['index.js', ['client-node', 'undici', 'prom-client', 'yaml']],
    ['apiserver/index.js', ['client-node', 'undici', 'prom-client']],
  ] as const) {
    it(`${entry} does not load ${late.join(', ')} on import`, () => {
      const packages = [...packagesLoadedBy(entry)];
      expect(packages).to.include('node:crypto');
      const loaded = packages.filter((name) => late.some((part) => name.includes(part)));
      expect(loaded).to.deep.equal([]);
    });
  }

  it('cli/main.js loads no package before it has chosen which installed version of the CLI runs', () => {
    const packages = [...packagesLoadedBy('cli/main.js')];
    expect(packages.filter((name) => !name.startsWith('node:'))).to.deep.equal([]);
  });
});
