import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { EmbeddedCluster, serveLocalWebhooks } from 'operator-builder/testing';
import { KindName } from '../src/api/v98alpha98/kind-name.js';
import { kindNameV98alpha98Webhooks } from '../src/webhooks/v98alpha98/kind-name-webhook@first.js';

const createdBy = 'groupname.domain.example/created-by';
/** Content that the schema accepts: keep it in step with config/samples. */
const content: object = { spec: { image: 'registry.example/app:1', replicas: 2 } };

type Annotations = Readonly<Record<string, string>>;

let cluster: EmbeddedCluster;
let served: Awaited<ReturnType<typeof serveLocalWebhooks>>;

before(async () => {
  cluster = await EmbeddedCluster.start({ crds: [KindName] });
  served = await serveLocalWebhooks(cluster.client(), kindNameV98alpha98Webhooks);
});

after(async () => {
  await served.stop();
  await cluster.stop();
});

function newKindName(name: string, annotations: Annotations): KindName {
  const metadata = {
    name,
    annotations,
    // +operator-builder:if namespaced
    namespace: 'default',
    // +operator-builder:end
  };
  return {
    apiVersion: KindName.apiVersion,
    kind: 'KindName',
    metadata,
    ...content,
  } as KindName;
}
// +operator-builder:if defaulting

test('KindName v98alpha98: records the creator', async () => {
  const client = cluster.client({ user: 'jane' });
  const made = await client.create<KindName>(newKindName('made', {}));
  assert.equal(made.metadata.annotations?.[createdBy], 'jane');
});
// +operator-builder:end
// +operator-builder:if validation

test('KindName v98alpha98: protects the creator', async () => {
  const client = cluster.client({ user: 'jane' });
  const object = newKindName('kept', { [createdBy]: 'jane' });
  const made = await client.create<KindName>(object);
  const metadata = { ...made.metadata, annotations: { [createdBy]: 'joe' } };
  const changed = client.update<KindName>({ ...made, metadata });
  await assert.rejects(changed, /can't be changed/);
});
// +operator-builder:end
// +operator-builder:scaffold:tests
