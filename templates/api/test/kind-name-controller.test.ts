import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deployment, Event, Manager, findCondition, isConditionTrue } from 'operator-builder';
import { EmbeddedCluster, eventually } from 'operator-builder/testing';
import { KindName } from '../src/api/v99alpha99/kind-name.js';
import { setupKindNameController } from '../src/controllers/kind-name-controller@builder.js';

const key = {
  name: 'sample',
  // +operator-builder:if namespaced
  namespace: 'default',
  // +operator-builder:end
};

test('KindName: an object becomes a Deployment, and says whether it is ready', async (t) => {
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

  // The server refuses a Deployment with such an image.
  await client.patch(KindName, key, { type: 'merge', body: { spec: { image: ' app:2' } } });
  await eventually(async () => {
    const { status } = await client.get(KindName, key);
    const ready = findCondition(status?.conditions, 'Ready');
    assert.equal(ready?.reason, 'ReconcileFailed');
    assert.match(ready.message, /image/);
    const { items } = await client.list(Event, { namespace: 'default' });
    assert.ok(
      items.some(({ type, regarding }) => type === 'Warning' && regarding?.name === key.name),
    );
  });
});
