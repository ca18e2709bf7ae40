import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { EmbeddedCluster, serveLocalWebhooks } from 'operator-builder/testing';
import { KindName } from '../src/api/v98alpha98/kind-name.js';
import type { KindNameV99alpha99 } from '../src/api/v99alpha99/kind-name.js';
import { kindNameV99alpha99Webhooks } from '../src/webhooks/v99alpha99/kind-name-webhook@later.js';

const createdBy = 'groupname.domain.example/created-by';
/** Content that the schema accepts: keep it in step with config/samples. */
const content: object = { spec: { image: 'registry.example/app:1', replicas: 2 } };

type Annotations = Readonly<Record<string, string>>;

let cluster: EmbeddedCluster;
let served: Awaited<ReturnType<typeof serveLocalWebhooks>>;

before(async () => {
  cluster = await EmbeddedCluster.start({ crds: [KindName] });
  served = await serveLocalWebhooks(cluster.client(), kindNameV99alpha99Webhooks);
});

after(async () => {
  await served.stop();
  await cluster.stop();
});

function newKindName(name: string, annotations: Annotations): KindNameV99alpha99 {
  const metadata = {
    name,
    annotations,
    // +operator-builder:if namespaced
    namespace: 'default',
    // +operator-builder:end
  };
  return {
    apiVersion: 'groupname.domain.example/v99alpha99',
    kind: 'KindName',
    metadata,
    ...content,
  } as KindNameV99alpha99;
}
// +operator-builder:if defaulting

test('KindName v99alpha99: records the creator', async () => {
  const client = cluster.client({ user: 'jane' });
  const made = await client.create<KindNameV99alpha99>(newKindName('made', {}));
  assert.equal(made.metadata.annotations?.[createdBy], 'jane');
});
// +operator-builder:end
// +operator-builder:if validation

test('KindName v99alpha99: protects the creator', async () => {
  const client = cluster.client({ user: 'jane' });
  const object = newKindName('kept', { [createdBy]: 'jane' });
  const made = await client.create<KindNameV99alpha99>(object);
  const metadata = { ...made.metadata, annotations: { [createdBy]: 'joe' } };
  const changed = client.update<KindNameV99alpha99>({ ...made, metadata });
  await assert.rejects(changed, /can't be changed/);
});
// +operator-builder:end
// +operator-builder:scaffold:tests
