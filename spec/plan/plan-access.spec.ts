import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { Operator } from '../../lib/operator/index.js';
import { hideUnreadable } from '../../lib/plan/hide-unreadable.js';
import type { ReadResource } from '../../lib/plan/hide-unreadable.js';
import { grant } from '../manager/grant.js';
import { DeployedOperator, post } from './deployed-operator.js';

const Region = defineResource({
  group: 'shops.example',
  kind: 'Region',
  scope: 'Cluster',
  versions: [{ name: 'v1', schema: s.object({ spec: s.object({}) }), status: s.status() }],
});

function regionOperator(): Operator {
  const operator = new Operator('regions');
  operator
    .for(Region)
    .owns(ConfigMap)
    .builds(({ builder }) => builder);
  return operator;
}

describe('Plans for a cluster-scoped resource', () => {
  const rbac = 'rbac.authorization.k8s.io';
  let cluster: EmbeddedCluster;
  let deployed: DeployedOperator;

  before(async () => {
    cluster = await EmbeddedCluster.start({
      ...{ crds: [Region], rbac: true, users: { t: 'tenant', a: 'administrator' } },
    });
    const admin = cluster.client({ user: 'system:admin' });
    const regions = { apiGroups: ['shops.example'], resources: ['regions'] };
    const change = { ...regions, verbs: ['get', 'create', 'update', 'patch'] };
    const postPlan = { nonResourceURLs: ['/plan'], verbs: ['post'] };
    await grant(admin, [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]);
    await grant(admin, [postPlan, change], 'administrator');
    await grant(admin, [postPlan], 'tenant');
    const metadata = { namespace: 'default', name: 'tenant' };
    const apiVersion = `${rbac}/v1`;
    await admin.create({ apiVersion, kind: 'Role', metadata, rules: [change] });
    await admin.create({
      ...{ apiVersion, kind: 'RoleBinding', metadata },
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'tenant' },
      subjects: [{ apiGroup: rbac, kind: 'User', name: 'tenant' }],
    });
    deployed = await DeployedOperator.start(regionOperator(), cluster.client({ user: 'operator' }));
  });

  after(async () => {
    await deployed.stop();
    await cluster.stop();
  });

  function ask(token: string) {
    const metadata = { namespace: 'default', name: 'north' };
    const region = { apiVersion: 'shops.example/v1', kind: 'Region', metadata, spec: {} };
    const headers = { authorization: `Bearer ${token}` };
    return post(`${deployed.url}/plan`, JSON.stringify(region), headers);
  }

  it('refuses a user with rights in the namespace that the request names', async () => {
    const { status, text } = await ask('t');
    expect(status, text).to.equal(403);
    expect(text).to.include('user tenant may not update Region north');
  });

  it('ignores the namespace of the request for a user with rights in the cluster', async () => {
    const { status, text } = await ask('a');
    expect(status, text).to.equal(200);
    expect(text).to.include('Plan for Region north\n');
  });

  it('reviews reads of cluster-scoped objects without a namespace', async () => {
    const owner = { apiVersion: 'shops.example/v1', kind: 'Region', name: 'north' };
    const ref = { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', namespace: 'default', name: 'a' };
    const changes = [{ path: 'rules', from: 'old', to: 'new' }];
    const object = { ref, action: 'configure', changes, approximate: false } as const;
    const parts = { owner, objects: [object], rollouts: [], changed: true };
    const plan = { ...parts, steps: [], manifests: [], settled: true };
    const asked: ReadResource[] = [];
    const isReadable = (resource: ReadResource): Promise<boolean> => {
      asked.push(resource);
      return Promise.resolve(resource.namespace === 'default');
    };
    const { objects } = await hideUnreadable(plan, isReadable, cluster.client());
    expect(asked).to.deep.equal([{ group: rbac, resource: 'clusterroles', namespace: undefined }]);
    expect(objects[0]?.changes).to.deep.equal([
      { path: 'rules', from: '(redacted)', to: '(redacted)' },
    ]);
  });
});
