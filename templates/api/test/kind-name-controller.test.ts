import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deployment, Manager, isConditionTrue } from 'operator-builder';
import { EmbeddedCluster, eventually } from 'operator-builder/testing';
import { KindName } from '../src/api/v99alpha99/kind-name.js';
import { setupKindNameController } from '../src/controllers/kind-name-controller@builder.js';

const key = {
  name: 'sample',
  // +operator-builder:if namespaced
  namespace: 'default',
  // +operator-builder:end
};

test('KindName: an object becomes a Deployment, and says when it is ready', async (t) => {
  const cluster = await EmbeddedCluster.start({ crds: [KindName], simulateWorkloads: true });
  const manager = new Manager({ client: cluster.client({ user: 'operator' }) });
  setupKindNameController(manager);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
    await cluster.stop();
  });

  const client = cluster.client();
  const spec = { image: 'registry.example/app:1', replicas: 2 };
  await client.create(KindName.object({ metadata: key, spec }));
  await eventually(async () => {
    const { status } = await client.get(KindName, key);
    assert.ok(isConditionTrue(status?.conditions, 'Ready'));
  });
  const made = await client.get(Deployment, { name: key.name, namespace: 'default' });
  assert.equal(made.spec?.replicas, 2);
  assert.equal(made.status?.readyReplicas, 2);
});
