import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deployment, Event, Operator, findCondition, getIfExists } from 'operator-builder';
import { EmbeddedCluster, startOperator } from 'operator-builder/testing';
import { KindName } from '../src/api/v99alpha99/kind-name@lifecycle.js';
import { setupKindNameController } from '../src/controllers/kind-name-controller@lifecycle.js';

const key = {
  name: 'sample',
  // +operator-builder:if namespaced
  namespace: 'default',
  // +operator-builder:end
};

test('KindName: a configuration deploys its system, and removes it', async (t) => {
  const cluster = await EmbeddedCluster.start({
    crds: [KindName],
    simulateWorkloads: true,
  });
  // The operator runs under its role: a request that lacks a rule fails the test.
  const operator = new Operator('operator-name');
  setupKindNameController(operator);
  const { eventually, stop } = await startOperator(cluster, operator);
  t.after(() => stop().finally(() => cluster.stop()));

  const client = cluster.client();
  const spec = { image: 'registry.example/app:1', replicas: 2 };
  await client.create(KindName.object({ metadata: key, spec }));
  await eventually(async () => {
    const { status } = await client.get(KindName, key);
    assert.equal(status?.phase, 'Deployed');
  });
  const deployment = { name: `kindname-${key.name}`, namespace: 'default' };
  const made = await client.get(Deployment, deployment);
  assert.equal(made.status?.readyReplicas, 2);

  const long = { ...key, name: 'a'.repeat(64) };
  await client.create(KindName.object({ metadata: long, spec }));
  await eventually(async () => {
    const { status } = await client.get(KindName, long);
    assert.equal(status?.phase, 'Deployed');
  });

  // A Service cannot have a name with a dot.
  const refused = { ...key, name: 'with.dot' };
  await client.create(KindName.object({ metadata: refused, spec }));
  await eventually(async () => {
    const { status } = await client.get(KindName, refused);
    const degraded = findCondition(status?.conditions, 'Degraded');
    assert.match(degraded?.message ?? '', /Service.*with\.dot/);
    const { items } = await client.list(Event, { namespace: 'default' });
    assert.ok(
      items.some(({ type, regarding }) => type === 'Warning' && regarding?.name === refused.name),
    );
  });

  await client.delete(KindName, key);
  await eventually(async () => {
    assert.equal(await getIfExists(client, KindName, key), undefined);
  });
  assert.equal(await getIfExists(client, Deployment, deployment), undefined);
});
