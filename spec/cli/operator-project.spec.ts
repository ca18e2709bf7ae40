import { expect } from 'chai';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { Tenant } from '../operator/suite/stage.js';
import { cli, scratchDirectory } from './cli.js';
import { linkPackages } from './project/project-copy.js';

const source = `
import { ConfigMap, Operator } from 'operator-builder';
import { defineResource, s } from 'operator-builder/crd';

const spec = s.object({ env: s.map(s.string()) });
const version = { name: 'v1', schema: s.object({ spec }), status: s.status() };
const Tenant = defineResource({ group: 'front.example', kind: 'Tenant', versions: [version] });

export const operator = new Operator('tenant-operator');
operator
  .for(Tenant)
  .owns(ConfigMap)
  .builds(({ object, builder }) => builder.configMap({ name: 'env', data: object.spec.env }));
`;

describe('The command line with an Operator in src/operator.ts', () => {
  const file = scratchDirectory();

  before(async () => {
    await mkdir(file('src'), { recursive: true });
    await writeFile(file('package.json'), JSON.stringify({ name: 'tenants', type: 'module' }));
    await writeFile(file('src/operator.ts'), source);
    linkPackages(file('.'));
  });

  it('plans the objects of the operator without storing them', async () => {
    const cluster = await EmbeddedCluster.start({ port: 0 });
    try {
      await cluster.writeKubeConfig(file('kubeconfig'));
      await cluster.client().create(Tenant.crd);
      const metadata = { name: 'acme', namespace: 'default' };
      const tenant = { apiVersion: 'front.example/v1', kind: 'Tenant', metadata };
      await writeFile(file('t.yaml'), JSON.stringify({ ...tenant, spec: { env: { A: '1' } } }));
      const args = ['--project', file('.'), '--kubeconfig', file('kubeconfig')];
      const { stdout, stderr, code } = await cli(['plan', '-f', file('t.yaml'), ...args]);
      expect({ code, stderr }).to.deep.equal({ code: 2, stderr: '' });
      expect(stdout)
        .to.include('+ Tenant default/acme create\n')
        .and.include('+ ConfigMap default/env create\n')
        .and.include('+ data.A: "1"\n')
        .and.include('2 to create, 0 to configure');
      expect((await cluster.client().list(Tenant)).items).to.deep.equal([]);
    } finally {
      await cluster.stop();
    }
  });

  it('draws the controller and the kinds that it owns', async () => {
    const { stdout, stderr } = await cli(['graph', '--project', file('.')]);
    expect(stderr).to.equal('');
    expect(stdout).to.include('["tenant-operator"]').and.include('"is reconciled by"');
    expect(stdout).to.include('n2["ConfigMap"]').and.include('"owns"| n2');
  });

  it('writes the CRD, and a role with the required rules', async () => {
    const { code, stderr } = await cli(['manifests', '--project', file('.')]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(await readFile(file('config/crd/bases/front.example_tenants.yaml'), 'utf8')).to.contain(
      'observedGeneration',
    );
    const role = parse(await readFile(file('config/rbac/role.yaml'), 'utf8')) as Role;
    const rules = role.rules.map(({ resources, verbs }) => `${resources.join()}: ${verbs.join()}`);
    expect(rules).to.deep.equal([
      'configmaps: get,list,watch,create,patch,delete',
      'events: create,patch',
      'tenants: get,list,watch,patch',
      'tenants/finalizers: update',
      'tenants/status: patch',
    ]);
  });
});

interface Role {
  readonly rules: readonly {
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}
