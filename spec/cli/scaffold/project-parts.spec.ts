import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { buildKustomization } from '../../../lib/cli/package/overlay.js';
import { cli, scratchDirectory } from '../cli.js';
import { createApi, textsIn } from './project.js';

describe('operator-builder init --with', () => {
  const file = scratchDirectory();
  const init = (folder: string, ...args: readonly string[]) =>
    cli(['init', '--domain', 'example.com', '--name', 'shops', '-C', file(folder), ...args]);
  const csv = 'config/manifests/bases/shops.clusterserviceversion.yaml';

  const kinds = async (folder: string): Promise<readonly string[]> =>
    (await buildKustomization(file(folder))).map(({ kind }) => kind);

  it('creates only the requested parts', async () => {
    await init('plain');
    await init('both', '--with', 'scorecard,olm');
    await init('olm', '--with', 'olm');
    const parts = async (folder: string): Promise<readonly string[]> =>
      Object.keys(await textsIn(file(folder))).filter((path) => /scorecard|manifests\//.test(path));
    expect(await parts('plain')).to.deep.equal([]);
    expect(await parts('olm')).to.deep.equal([csv, 'config/manifests/kustomization.yaml']);
    expect(await parts('both'))
      .to.include('config/scorecard/bases/config.yaml')
      .with.length(6);
  });

  it('records the parts in PROJECT, and keeps them when kinds are added', async () => {
    await init('recorded', '--with', 'olm,scorecard', '--with', 'olm');
    const record = async (): Promise<Readonly<Record<string, unknown>>> =>
      parse(await readFile(file('recorded/PROJECT'), 'utf8')) as Record<string, unknown>;
    expect(await record()).to.deep.include({ parts: ['scorecard', 'olm'], resources: [] });
    expect(await createApi(file('recorded'))).to.include({ code: 0 });
    expect(await record()).to.deep.include({ parts: ['scorecard', 'olm'] });
    await init('bare');
    expect(await readFile(file('bare/PROJECT'), 'utf8')).to.not.include('parts');
  });

  it('lists all kinds and versions in the OLM catalogue', async () => {
    await init('kinds', '--with', 'olm', '--with', 'scorecard');
    for (const [kind, version] of [
      ['Shop', 'v1alpha1'],
      ['Fleet', 'v1'],
      ['Shop', 'v1'],
    ] as const) {
      expect(await createApi(file('kinds'), kind, version)).to.include({ code: 0 });
    }
    const said = parse(await readFile(file('kinds', csv), 'utf8')) as {
      readonly spec: { readonly customresourcedefinitions: { readonly owned: readonly object[] } };
    };
    expect(said.spec.customresourcedefinitions.owned).to.deep.equal([
      ...[
        ['Shop', 'v1alpha1', 'shops'],
        ['Fleet', 'v1', 'fleets'],
        ['Shop', 'v1', 'shops'],
      ].map(([kind, version, plural]) => {
        return { kind, version, name: `${plural ?? ''}.shop.example.com` };
      }),
    ]);
    const built = await kinds('kinds/config/manifests');
    expect(built).to.include.members([
      ...['ClusterServiceVersion', 'Configuration', 'Deployment', 'Shop', 'Fleet'],
    ]);
    // A cluster needs neither catalogue nor scorecard.
    expect(await kinds('kinds/config/default')).to.not.include('ClusterServiceVersion');
  });

  it('configures six scorecard tests of the bundle', async () => {
    await init('tests', '--with', 'scorecard');
    const [configuration] = await buildKustomization(file('tests/config/scorecard'));
    expect(configuration).to.have.nested.property('stages[0].tests').with.length(6);
  });

  it('refuses an unknown part', async () => {
    const { code, stderr } = await init('none', '--with', 'ansible');
    expect([code, stderr]).to.deep.equal([
      1,
      'error: --with: want scorecard, olm, got "ansible"\n',
    ]);
  });
});
