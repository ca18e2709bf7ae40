import assert from 'node:assert/strict';
import { EmbeddedCluster } from 'operator-builder/apiserver';

// The globals of the test runner: vitest has them with `--globals`, jest always.
const { test } = globalThis.test === undefined ? await import('vitest') : globalThis;

test('an embedded cluster stores objects', async () => {
  const cluster = await EmbeddedCluster.start();
  const metadata = { name: 'settings', namespace: 'default' };
  await cluster.client().create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
  assert.equal(cluster.requests.writes, 1);
  await cluster.stop();
});
