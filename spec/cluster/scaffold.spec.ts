import { expect } from 'chai';
import { copyFile } from 'node:fs/promises';
import { createApi, makeProject } from '../cli/scaffold/project.js';
import { scratchDirectory } from '../cli/cli.js';
import { eventually } from './control-plane/eventually.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { Kubectl } from './kubectl.js';

const overlays = ['crd', 'default', 'manager', 'network-policy', 'prometheus', 'rbac', 'samples'];

describe('a generated project', () => {
  const file = scratchDirectory();
  let admin: Kubectl;

  before(async () => {
    const { kubeConfigPath } = await sharedControlPlane();
    admin = await Kubectl.create((path) => copyFile(kubeConfigPath, path));
    await makeProject(file('shops'), ['Shop'], ['Fleet', 'v1', '--no-namespaced'], ['Shop', 'v1']);
  });

  after(() => admin.close());

  for (const overlay of overlays) {
    it(`has config/${overlay}, which kustomize builds`, async () => {
      const built = await admin.print(['kustomize', file('shops', 'config', overlay)]);
      expect(built).to.include('kind: ').and.not.include('operator-name');
    });
  }

  it('has a configuration that kustomize builds, also without kinds', async () => {
    await makeProject(file('bare'));
    expect(await admin.print(['kustomize', file('bare/config/default')])).to.include('Deployment');
    // `create api` fills the files that `init` has left empty.
    expect(await createApi(file('bare'), 'Pot')).to.include({ code: 0 });
    expect(await admin.print(['kustomize', file('bare/config/default')])).to.include('kind: Pot\n');
  });

  it('has manifests that a real API server accepts', async () => {
    const config = file('shops/config');
    try {
      const applied = await admin.print(['apply', '-k', `${config}/default`]);
      expect(applied).to.include('shops.shop.example.com created');
      const crds = ['crd/shops.shop.example.com', 'crd/fleets.shop.example.com'];
      await admin.print(['wait', '--for=condition=Established', ...crds]);
      // Discovery lists the kinds a moment later.
      const samples = await eventually(() => admin.print(['apply', '-k', `${config}/samples`]));
      expect(samples.trim().split('\n')).to.have.length(3);
      await eventually(async () => {
        const role = await admin.print(['get', 'clusterrole', 'view', '-o', 'yaml']);
        expect(role).to.include('- shop.example.com\n').and.include('- fleets\n');
      });
    } finally {
      await admin.run(['delete', '-k', `${config}/default`, '--wait=false']);
    }
  });
});
