import { expect } from 'chai';
import { copyFile, writeFile } from 'node:fs/promises';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { systemRandom } from '../../lib/system/random.js';
import { cli, scratchDirectory } from '../cli/cli.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { eventually } from './control-plane/eventually.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { DeployedPod } from './deployed-pod.js';
import { Kubectl } from './kubectl.js';

describe('declarative operators limited to a namespace, on a real API server', () => {
  const file = scratchDirectory();
  const name = `limited-${systemRandom.uuid().slice(0, 6)}`;
  const [namespace, home] = [`${name}-system`, `${name}-home`];
  const parts = ['default', 'namespaces'];
  const operators = `
controllers:
  - name: copies
    sources: [{ apiGroup: '', kind: ConfigMap, labelSelector: { matchLabels: { of: ${name} } } }]
    pipeline:
      '@project':
        metadata: { name: copy, namespace: $.metadata.namespace }
        data: $.data
    target: { apiGroup: '', kind: ConfigMap }
`;
  let plane: ControlPlane;
  let admin: ConnectedClient;
  let kubectl: Kubectl;
  let pod: DeployedPod | undefined;

  before(async () => {
    plane = await sharedControlPlane();
    admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
    kubectl = await Kubectl.create((path) => copyFile(plane.kubeConfigPath, path));
    await writeFile(file('copies.yaml'), operators);
    const args = ['--name', name, '--namespaces', home, '-d', file('deploy')];
    const made = await cli(['declarative', 'manifests', file('copies.yaml'), ...args]);
    expect(made, made.stderr).to.include({ code: 0 });
    await kubectl.print(['create', 'namespace', home]);
    for (const part of parts) await kubectl.print(['apply', '-k', file('deploy/config', part)]);
    const key = { name: `${name}-controller-manager`, namespace };
    const places = { folder: file('pod'), project: file('deploy') };
    pod = await DeployedPod.start({ key, ...places, plane, admin });
  });

  after(async () => {
    await pod?.stop();
    for (const part of parts) {
      await kubectl.run(['delete', '-k', file('deploy/config', part), '--wait=false']);
    }
    await kubectl.run(['delete', 'namespace', home, '--wait=false']);
    await kubectl.close();
    await admin.close();
  });

  it('work with roles in that namespace alone', async () => {
    const metadata = { name: 'original', namespace: home, labels: { of: name } };
    const elsewhere = { ...metadata, namespace: 'default', name };
    for (const one of [metadata, elsewhere]) {
      await admin.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: one, data: { a: 'b' } });
    }
    await eventually(async () => {
      pod?.check();
      const copy = await admin.get(ConfigMap, { name: 'copy', namespace: home });
      expect(copy.data).to.deep.equal({ a: 'b' });
    }, 60_000);
    await admin.delete(ConfigMap, { name, namespace: 'default' });
    expect(await pod?.stop(), pod?.output).to.equal(0);
    expect(pod?.output).not.to.include('permissions are missing');
    const requests = await plane.auditLog.read({ user: pod?.user ?? '' });
    const refused = requests.filter(({ code }) => code === 403);
    expect(refused.map(({ verb, uri }) => `${verb} ${uri}`)).to.deep.equal([]);
  });
});
