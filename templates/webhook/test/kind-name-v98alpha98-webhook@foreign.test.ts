import assert from 'node:assert/strict';
// +operator-builder:if custom
import { readFileSync } from 'node:fs';
// +operator-builder:end
import { after, before, test } from 'node:test';
import { Namespace } from 'operator-builder';
// +operator-builder:if custom
import type { CustomResourceDefinition } from 'operator-builder';
// +operator-builder:end
import { EmbeddedCluster, serveLocalWebhooks } from 'operator-builder/testing';
import type { KindName } from '../src/api/v98alpha98/kind-name.js';
import { kindNameV98alpha98Webhooks } from '../src/webhooks/v98alpha98/kind-name-webhook@foreign.js';

// +operator-builder:if custom
const file = new URL('crds/kind-name.json', import.meta.url);
const definition = JSON.parse(readFileSync(file, 'utf8')) as CustomResourceDefinition;

// +operator-builder:end
const createdBy = 'operator-name.domain.example/created-by';
/** Content that the API server accepts. */
const content: object = { spec: {} };

type Annotations = Readonly<Record<string, string>>;

let cluster: EmbeddedCluster;
let served: Awaited<ReturnType<typeof serveLocalWebhooks>>;

before(async () => {
  cluster = await EmbeddedCluster.start({ crds: [definition] });
  const labels = { 'operator-name.domain.example/webhooks': 'enabled' };
  const patch = { type: 'merge', body: { metadata: { labels } } } as const;
  await cluster.client().patch(Namespace, { name: 'default' }, patch);
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
  const type = { apiVersion: 'groupname.domain.example/v98alpha98', kind: 'KindName' };
  const object: object = { ...type, metadata, ...content };
  return object as KindName;
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
