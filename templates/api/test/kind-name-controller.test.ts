import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deployment, Event, Operator, findCondition } from 'operator-builder';
import { EmbeddedCluster, startOperator } from 'operator-builder/testing';
import { KindName } from '../src/api/v99alpha99/kind-name.js';
import { setupKindNameController } from '../src/controllers/kind-name-controller@builder.js';

const key = {
  name: 'sample',
  // +operator-builder:if namespaced
  namespace: 'default',
  // +operator-builder:end
};

const labels = { app: 'foreign' };
const foreignDeployment: Deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'kindname-taken', namespace: 'default' },
  spec: {
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { containers: [{ name: 'app', image: 'registry.example/foreign:1' }] },
    },
  },
};

test('KindName: creates a Deployment, and Ready shows its state', async (t) => {
  const cluster = await EmbeddedCluster.start({
    crds: [KindName],
    simulateWorkloads: true,
  });
  const client = cluster.client();
  await client.create(foreignDeployment);
  // The operator runs under its role: a request that lacks a rule fails the test.
  const operator = new Operator('operator-name');
  setupKindNameController(operator);
  const { eventually, stop } = await startOperator(cluster, operator);
  t.after(() => stop().finally(() => cluster.stop()));

  const spec = { image: 'registry.example/app:1', replicas: 2 };
  await client.create(KindName.object({ metadata: key, spec }));
  await eventually(async () => {
    const { status } = await client.get(KindName, key);
    const ready = findCondition(status?.conditions, 'Ready');
    assert.equal(ready?.status, 'True', ready?.message);
  });
  const deployment = { name: `kindname-${key.name}`, namespace: 'default' };
  const made = await client.get(Deployment, deployment);
  assert.equal(made.spec?.replicas, 2);
  assert.equal(made.status?.readyReplicas, 2);

  const long = { ...key, name: 'a'.repeat(64) };
  await client.create(KindName.object({ metadata: long, spec }));
  await eventually(async () => {
    const { status } = await client.get(KindName, long);
    const ready = findCondition(status?.conditions, 'Ready');
    assert.equal(ready?.status, 'True', ready?.message);
  });

  // A Deployment of that name belongs to another client.
  const refused = { ...key, name: 'taken' };
  await client.create(KindName.object({ metadata: refused, spec }));
  await eventually(async () => {
    const { status } = await client.get(KindName, refused);
    assert.equal(findCondition(status?.conditions, 'Ready')?.status, 'False');
    const { items } = await client.list(Event, { namespace: 'default' });
    assert.ok(
      items.some(({ type, regarding }) => type === 'Warning' && regarding?.name === 'taken'),
    );
  });
});
