import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import type { Client } from '../../../lib/client/index.js';
import { defineResource, s } from '../../../lib/crd/index.js';
import type { UnstructuredObject } from '../../../lib/object/index.js';

const Thing = defineResource({
  ...{ group: 'example.com', kind: 'Thing' },
  versions: [{ name: 'v1', schema: s.object({}) }],
});
const namespaced = { name: 'one', namespace: 'default' };
const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'example.com/main' }] },
};
const port = { number: 80 };

/** Objects, and their keys in etcd as the real server (v1.36) names them. */
const keys: readonly (readonly [object: UnstructuredObject, key: string])[] = [
  [
    { apiVersion: 'v1', kind: 'Service', metadata: namespaced, spec: { ports: [{ port: 80 }] } },
    'services/specs/default/one',
  ],
  [{ apiVersion: 'v1', kind: 'Endpoints', metadata: namespaced }, 'services/endpoints/default/one'],
  [
    {
      ...{ apiVersion: 'v1', kind: 'ReplicationController', metadata: namespaced },
      spec: { replicas: 0, selector: { app: 'web' }, template },
    },
    'controllers/default/one',
  ],
  [{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'one' } }, 'minions/one'],
  [
    {
      ...{ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: namespaced },
      spec: { defaultBackend: { service: { name: 'web', port } } },
    },
    'ingress/default/one',
  ],
  [
    {
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
      ...{ metadata: { name: 'one' }, rules: [] },
    },
    'clusterroles/one',
  ],
  [
    {
      ...{ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService' },
      metadata: { name: 'v1.other.example.com' },
      spec: {
        ...{ group: 'other.example.com', version: 'v1', insecureSkipTLSVerify: true },
        ...{ groupPriorityMinimum: 1000, versionPriority: 10 },
        service: { name: 'web', namespace: 'default' },
      },
    },
    'apiregistration.k8s.io/apiservices/v1.other.example.com',
  ],
  [Thing.crd, 'apiextensions.k8s.io/customresourcedefinitions/things.example.com'],
  [
    { apiVersion: 'example.com/v1', kind: 'Thing', metadata: namespaced },
    'example.com/things/default/one',
  ],
];

describe('the embedded API server', () => {
  let cluster: EmbeddedCluster;
  let client: Client;

  before(async () => {
    cluster = await EmbeddedCluster.start();
    client = cluster.client();
  });

  after(() => cluster.stop());

  for (const [object, key] of keys) {
    it(`refuses an update of a ${object.kind} with the uid of another object, and names the storage key of the object`, async () => {
      const created = await client.create(object);
      const next = { ...created, metadata: { ...created.metadata, uid: 'other' } };
      const message = (path: string): string =>
        `Code: 4, Key: ${path}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ` +
        `UID in precondition: other, UID in object meta: ${created.metadata.uid ?? ''}`;
      const failure = async (dryRun: boolean): Promise<string> =>
        client.update(next, { dryRun }).then(
          () => 'accepted',
          (error: unknown) => (error as Error).message,
        );
      expect(await failure(false)).to.contain(message(`/registry/${key}`));
      expect(await failure(true)).to.contain(message(`/${key}`));
    });
  }
});
