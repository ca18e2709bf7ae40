// Uses the built package as somebody who installed it: by import and by require, and reconciles one
// chain on the embedded server. What tsc and the packing get wrong, specs on the sources can't see.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { Builder, ConfigMap } from 'operator-builder';
import { EmbeddedCluster } from 'operator-builder/apiserver';

const required = createRequire(import.meta.url)('operator-builder');
assert.equal(required.Builder, Builder);

const cluster = await EmbeddedCluster.start({ simulateWorkloads: true });
const client = cluster.client();
const metadata = { name: 'owner', namespace: 'default' };
const owner = await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
const podSpec = { containers: [{ name: 'app', image: 'app:1' }] };
const results = await new Builder({ client, owner, controllerName: 'smoke', owns: [ConfigMap] })
  .configMap({ name: 'env', data: { A: '1' } })
  .deployment({ name: 'app', podSpec, envFromConfigMap: ['env'] })
  .reconcile();
await cluster.stop();
assert.deepEqual(
  results.map(({ operation }) => operation),
  ['created', 'created'],
);
console.log('the built package imports, requires, and reconciles');
