import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { Operator } from '../../lib/operator/index.js';
import { hideUnreadable } from '../../lib/plan/hide-unreadable.js';
import type { ReadResource } from '../../lib/plan/hide-unreadable.js';
import { eventually } from '../../lib/testing/index.js';
import { grant } from '../manager/grant.js';
import { rememberingLogger } from '../manager/manager-setup.js';
import type { LogLine } from '../manager/manager-setup.js';
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

  it('refuses a user who has rights only in the namespace that the request names', async () => {
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

describe('An operator whose metrics server does not authenticate its clients', () => {
  const off = 'plans are off: they need authenticated metrics';
  let cluster: EmbeddedCluster;

  before(async () => {
    cluster = await EmbeddedCluster.start({ crds: [Region] });
  });

  after(() => cluster.stop());

  it('answers no plans, and logs what to configure', async () => {
    const metrics = { host: '127.0.0.1', port: 0 };
    const deployed = await DeployedOperator.start(regionOperator(), cluster.client(), { metrics });
    const warnings = deployed.lines.filter(({ message }) => message === off);
    const { status } = await post(`${deployed.url}/plan`, '{}');
    await deployed.stop();
    expect(status).to.equal(405);
    expect(warnings.map(({ level, fields }) => [level, fields])).to.deep.equal([
      ['warn', { remedy: '--metrics-auth' }],
    ]);
  });

  for (const metrics of [undefined, false] as const) {
    it(`logs that it answers no plans with metrics: ${String(metrics)}`, async () => {
      const lines: LogLine[] = [];
      const stop = new AbortController();
      const running = regionOperator().run({
        ...{ client: cluster.client(), metrics, plan: true, rbacPreflight: 'off' },
        ...{ signal: stop.signal, logger: rememberingLogger(lines) },
      });
      await eventually(() => expect(lines.map(({ message }) => message)).to.include(off));
      stop.abort();
      await running;
    });
  }
});
