// Uses the built package like an installed one, by import and by require. A manager reconciles a custom resource on
// the embedded server, over HTTPS. This finds errors of the build, the packaging and the runtime, which specs on the
// sources cannot see.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Builder, Manager, clientFromKubeConfig, controllerFor, done } from 'operator-builder';
import { EmbeddedCluster } from 'operator-builder/apiserver';
import { defineResource, s } from 'operator-builder/crd';
import { eventually } from 'operator-builder/testing';

const require = createRequire(import.meta.url);
const isLoaded = (name) => Object.keys(require.cache).some((path) => path.includes(name));
assert.ok(isLoaded('re2.cjs') && !isLoaded('node_modules/re2js/'), 're2js waits for a pattern');
assert.equal(require('operator-builder').Builder, Builder);
assert.equal(require('operator-builder/crd').defineResource, defineResource);

const Shop = defineResource({
  group: 'example.com',
  kind: 'Shop',
  versions: [{ name: 'v1', schema: s.object({ spec: s.object({ image: s.string() }) }) }],
});
const cluster = await EmbeddedCluster.start({ crds: [Shop], simulateWorkloads: true, rbac: true });
await cluster.listen();
assert.match(cluster.url, /^https:/);
const folder = mkdtempSync(join(tmpdir(), 'smoke-package-'));
const path = join(folder, 'kubeconfig');
await cluster.writeKubeConfig(path);
const client = await clientFromKubeConfig({ path });
const local = { host: '127.0.0.1', port: 0 };
const manager = new Manager({ client, health: local, metrics: local });
const operations = [];
manager.add(
  controllerFor(Shop).complete(async ({ key, client: own }) => {
    const owner = await own.get(Shop, key);
    const podSpec = { containers: [{ name: 'app', image: owner.spec.image }] };
    const results = await new Builder({ client: own, owner, controllerName: 'smoke' })
      .configMap({ name: 'env', data: { A: '1' } })
      .deployment({ name: 'app', podSpec, envFromConfigMap: ['env'] })
      .reconcile();
    operations.push(...results.map(({ operation }) => operation));
    return done();
  }),
);
const stop = new globalThis.AbortController();
const running = manager.run(stop.signal);
const metadata = { name: 'shop', namespace: 'default' };
await client.create({ apiVersion: 'example.com/v1', kind: 'Shop', metadata, spec: { image: 'a' } });
await eventually(() => assert.deepEqual(operations.slice(0, 2), ['created', 'created']));
stop.abort();
await running;
await client.close();
await cluster.stop();
rmSync(folder, { recursive: true });
console.log('the built package imports, requires, and reconciles');
