import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conversionWebhook } from 'operator-builder';
import { versionOfResource } from 'operator-builder/crd';
import { assertRoundTrips, EmbeddedCluster, serveLocalWebhooks } from 'operator-builder/testing';
import { KindName } from '../src/api/v98alpha98/kind-name.js';
import type { KindNameV99alpha99 } from '../src/api/v99alpha99/kind-name.js';

const key = {
  name: 'sample',
  // +operator-builder:if namespaced
  namespace: 'default',
  // +operator-builder:end
};
/** Content that the schema of v98alpha98 accepts: keep it in step with config/samples. */
const content: object = { spec: { image: 'registry.example/app:1', replicas: 2 } };

test('KindName: no field is lost in a conversion from v98alpha98 to v99alpha99 and back', async (t) => {
  const cluster = await EmbeddedCluster.start({ crds: [KindName] });
  const client = cluster.client();
  const served = await serveLocalWebhooks(client, [conversionWebhook(KindName)]);
  t.after(async () => {
    await served.stop();
    await cluster.stop();
  });
  const { apiVersion } = KindName;
  const object = {
    apiVersion,
    kind: 'KindName',
    metadata: key,
    ...content,
  } as KindName;
  const made = await client.create<KindName>(object);
  const type = versionOfResource<KindNameV99alpha99>(KindName, 'v99alpha99');
  const read = await client.get(type, key);
  assert.equal(read.apiVersion, 'groupname.domain.example/v99alpha99');
  await client.update<KindNameV99alpha99>(read);
  const back = await client.get(KindName, key);
  assert.deepEqual({ ...back, metadata: {} }, { ...made, metadata: {} });
});

test('KindName: conversions of random objects lose nothing', () => {
  assertRoundTrips(KindName);
});
