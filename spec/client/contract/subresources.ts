import { expect } from 'chai';
import { Deployment, Pod } from '../../../lib/object/kinds.js';
import type { ServiceAccount } from '../../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import type { TypeReference } from '../../../lib/object/resource-type.js';
import type { Behaviour, ContractSubject } from './contract-subject.js';

interface Scale extends UnstructuredObject {
  spec?: { replicas?: number };
}

const deploymentIn = ({ namespace }: ContractSubject, replicas: number): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'example.com/web' }] },
    },
  },
});

/** Declares how subresources are read and written. */
export function subresourceContract(it: Behaviour): void {
  it('a Scale is read, patched and updated', async (subject) => {
    const { client, namespace } = subject;
    await client.create(deploymentIn(subject, 0));
    const key = { namespace, name: 'web' };
    // The type names the kind to address; the response is a Scale.
    const type = Deployment as unknown as TypeReference<Scale>;
    const read = await client.get(type, key, { subresource: 'scale' });
    expect(read).to.include({ apiVersion: 'autoscaling/v1', kind: 'Scale' });
    expect(read.spec?.replicas ?? 0).to.equal(0);
    const body = { spec: { replicas: 2 } };
    const patched = await client.patch(
      type,
      key,
      { type: 'merge', body },
      { subresource: 'scale' },
    );
    expect(patched.spec?.replicas).to.equal(2);
    // The update has no resourceVersion, because the Deployment controller writes, too.
    const update = { ...patched, metadata: key, spec: { replicas: 1 } };
    await client.update(update, { subresource: 'scale', parent: Deployment });
    expect((await client.get(Deployment, key)).spec?.replicas).to.equal(1);
  });

  it('the status is written separately from the rest of the object', async (subject) => {
    const { client, namespace } = subject;
    const created = await client.create(deploymentIn(subject, 0));
    expect(created.status?.collisionCount).to.equal(undefined);
    const key = { namespace, name: 'web' };
    const body = { spec: { replicas: 5 }, status: { collisionCount: 7 } };
    const options = { subresource: 'status' };
    const patched = await client.patch(Deployment, key, { type: 'merge', body }, options);
    expect(patched.spec?.replicas).to.equal(0);
    expect(patched.status?.collisionCount).to.equal(7);
  });

  it('a token of a service account can be requested', async ({ client, namespace }) => {
    const metadata = { name: 'robot', namespace };
    await client.create<ServiceAccount>({ apiVersion: 'v1', kind: 'ServiceAccount', metadata });
    const request: UnstructuredObject = {
      ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata },
      spec: { expirationSeconds: 600, audiences: [] },
    };
    const { status } = await client.create(request, { subresource: 'token' });
    expect((status as { token: string }).token).to.match(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  it('a Pod can be evicted', async ({ client, namespace }) => {
    const metadata = { name: 'web', namespace };
    await client.create<Pod>({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata },
      // A scheduling gate keeps the Pod away from every scheduler.
      spec: {
        schedulingGates: [{ name: 'example.com/never' }],
        containers: [{ name: 'web', image: 'example.com/web' }],
      },
    });
    const eviction: UnstructuredObject = { apiVersion: 'policy/v1', kind: 'Eviction', metadata };
    await client.create(eviction, { subresource: 'eviction' });
    const left = (await client.list(Pod, { namespace })).items;
    expect(left.every((pod) => pod.metadata.deletionTimestamp !== undefined)).to.equal(true);
  });

  it('a Pod gets an ephemeral container, other resource limits and a Node by its subresources', async (subject) => {
    const { client, namespace } = subject;
    const key = { namespace, name: 'web' };
    const resources = { requests: { cpu: '100m' }, limits: { cpu: '200m' } };
    await client.create<Pod>({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: key },
      // No scheduler has this name.
      spec: {
        schedulerName: 'nobody',
        containers: [{ name: 'web', image: 'example.com/web', resources }],
      },
    });
    const debug = { name: 'debug', image: 'example.com/debug' };
    const ephemeral = await client.patch(
      Pod,
      key,
      { type: 'strategic', body: { spec: { ephemeralContainers: [debug] } } },
      { subresource: 'ephemeralcontainers' },
    );
    expect(ephemeral.spec?.ephemeralContainers?.[0]?.name).to.equal('debug');
    const more = { name: 'web', resources: { limits: { cpu: '300m' } } };
    const resized = await client.patch(
      Pod,
      key,
      { type: 'strategic', body: { spec: { containers: [more] } } },
      { subresource: 'resize' },
    );
    expect(resized.spec?.containers[0]?.resources?.limits).to.deep.equal({ cpu: '300m' });
    const target = { apiVersion: 'v1', kind: 'Node', name: 'nowhere' };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: key, target };
    await client.create<UnstructuredObject>(binding, { subresource: 'binding' });
    expect((await client.get(Pod, key)).spec?.nodeName).to.equal('nowhere');
  });
}
