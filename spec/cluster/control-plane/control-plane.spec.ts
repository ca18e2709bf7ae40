import { expect } from 'chai';
import { eventually } from './eventually.js';
import { sharedControlPlane } from './index.js';
import type { ControlPlane } from './index.js';
import { deployment, statefulSet } from './workload-objects.js';

interface Item {
  readonly metadata: { readonly name: string; readonly creationTimestamp: string };
  readonly spec: Record<string, unknown>;
  readonly status: Record<string, unknown>;
}

describe('a control plane', () => {
  let controlPlane: ControlPlane;
  let namespace: string;
  let count = 0;

  before(async () => {
    controlPlane = await sharedControlPlane();
  });

  beforeEach(async () => {
    namespace = `control-plane-${++count}`;
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    await controlPlane.api.json({ method: 'POST', path: '/api/v1/namespaces', body });
  });

  afterEach(async () => {
    await controlPlane.api.json({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
  });

  const apps = (rest: string) => `/apis/apps/v1/namespaces/${namespace}/${rest}`;
  const list = async (resource: string) => {
    const path = `/api/v1/namespaces/${namespace}/${resource}`;
    return (await controlPlane.api.json<{ items: Item[] }>({ path })).items;
  };

  it('reports its version', async () => {
    const version = await controlPlane.api.json({ path: '/version' });
    expect(version).to.include({ gitVersion: 'v1.36.3', major: '1', minor: '36' });
  });

  it('rolls out a Deployment', async () => {
    await controlPlane.api.json({
      method: 'POST',
      path: apps('deployments'),
      body: deployment(3),
    });
    await eventually(async () => {
      const { status } = await controlPlane.api.json<Item>({ path: apps('deployments/web') });
      expect(status).to.include({ updatedReplicas: 3, availableReplicas: 3 });
    });
  });

  it("creates a StatefulSet's Pods in order, each with a bound claim", async () => {
    await controlPlane.api.json({
      method: 'POST',
      path: apps('statefulsets'),
      body: statefulSet(3),
    });
    await eventually(async () => {
      const { status } = await controlPlane.api.json<Item>({ path: apps('statefulsets/web') });
      expect(status).to.include({ readyReplicas: 3 });
    });
    const pods = await list('pods');
    expect(pods.map(({ metadata }) => metadata.name)).to.have.members(['web-0', 'web-1', 'web-2']);
    const created = pods
      .toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name))
      .map(({ metadata }) => Date.parse(metadata.creationTimestamp));
    expect(created).to.deep.equal(created.toSorted((a, b) => a - b));
    const claims = await list('persistentvolumeclaims');
    expect(claims.map(({ metadata, status }) => [metadata.name, status['phase']])).to.deep.equal([
      ['data-web-0', 'Bound'],
      ['data-web-1', 'Bound'],
      ['data-web-2', 'Bound'],
    ]);
  });

  it('deletes dependents first in a foreground deletion', async () => {
    await controlPlane.api.json({
      method: 'POST',
      path: apps('deployments'),
      body: deployment(1),
    });
    await eventually(async () => expect(await list('pods')).to.have.length(1));
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Foreground' };
    await controlPlane.api.json({ method: 'DELETE', path: apps('deployments/web'), body });
    await eventually(async () => {
      const { status } = await controlPlane.api.send({ path: apps('deployments/web') });
      expect(status).to.equal(404);
    });
    expect(await list('pods')).to.deep.equal([]);
  });

  it('grants a user without groups exactly the permissions of RBAC', async () => {
    const { token } = await controlPlane.user('nobody', []);
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const refused = await controlPlane.api.send({ path, token });
    expect(refused.status).to.equal(403);
    expect(refused.text).to.include('User \\"nobody\\" cannot list resource \\"pods\\"');
    const binding = {
      metadata: { name: 'nobody' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'nobody' }],
    };
    await controlPlane.api.json({
      method: 'POST',
      path: `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`,
      body: binding,
    });
    await eventually(async () => {
      expect(await controlPlane.api.send({ path, token })).to.include({ status: 200 });
    });
  });
});
