import { expect } from 'chai';
import { isConflict, isNotFound } from '../../../lib/object/api-error.js';
import { ConfigMap, Service } from '../../../lib/object/kinds.js';
import { failureOf } from '../scripted-transport.js';
import { configMapIn } from './contract-subject.js';
import type { Behaviour } from './contract-subject.js';

/** Declares the behaviours of `delete` and `deleteCollection`. */
export function deleteContract(it: Behaviour): void {
  it('delete of an object without finalizers returns undefined', async (subject) => {
    const { client, namespace } = subject;
    await client.create(configMapIn(subject, 'a'));
    const key = { namespace, name: 'a' };
    expect(await client.delete(ConfigMap, key)).to.equal(undefined);
    expect(isNotFound(await failureOf(client.get(ConfigMap, key)))).to.equal(true);
  });

  it('delete of a Service returns undefined, although the server responds with the object', async ({
    client,
    namespace,
  }) => {
    const key = { namespace, name: 'a' };
    const metadata = { ...key };
    await client.create<Service>({
      ...{ apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80 }] } },
    });
    expect(await client.delete(Service, key)).to.equal(undefined);
    expect(isNotFound(await failureOf(client.get(Service, key)))).to.equal(true);
  });

  it('delete of an object with a finalizer returns it with a deletionTimestamp', async (subject) => {
    const { client, namespace } = subject;
    const key = { namespace, name: 'a' };
    const finalizers = ['example.com/hold'];
    await client.create(configMapIn(subject, 'a', { metadata: { ...key, finalizers } }));
    const left = await client.delete(ConfigMap, key);
    expect(left?.metadata.deletionTimestamp).to.be.a('string');
    expect(left?.metadata.finalizers).to.deep.equal(finalizers);
    await client.patch(ConfigMap, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    expect(isNotFound(await failureOf(client.get(ConfigMap, key)))).to.equal(true);
  });

  it('delete of a missing object fails with NotFound', async ({ client, namespace }) => {
    const error = await failureOf(client.delete(ConfigMap, { namespace, name: 'none' }));
    expect(isNotFound(error)).to.equal(true);
  });

  it('delete with the uid of another object as a precondition fails with Conflict', async (subject) => {
    const { client, namespace } = subject;
    const { metadata } = await client.create(configMapIn(subject, 'a'));
    const key = { namespace, name: 'a' };
    const uid = '00000000-0000-4000-8000-000000000000';
    for (const preconditions of [{ uid }, { resourceVersion: '1' }]) {
      expect(
        isConflict(await failureOf(client.delete(ConfigMap, key, { preconditions }))),
      ).to.equal(true);
    }
    const preconditions = { uid: metadata.uid ?? '' };
    expect(await client.delete(ConfigMap, key, { preconditions })).to.equal(undefined);
  });

  it('delete as a dry run keeps the object', async (subject) => {
    const { client, namespace } = subject;
    await client.create(configMapIn(subject, 'a'));
    const key = { namespace, name: 'a' };
    await client.delete(ConfigMap, key, { dryRun: true });
    expect((await client.get(ConfigMap, key)).metadata.deletionTimestamp).to.equal(undefined);
  });

  it('delete in the foreground waits for the dependents', async (subject) => {
    const { client, namespace } = subject;
    await client.create(
      configMapIn(subject, 'a', {
        metadata: { name: 'a', namespace, finalizers: ['example.com/hold'] },
      }),
    );
    const key = { namespace, name: 'a' };
    const left = await client.delete(ConfigMap, key, { propagationPolicy: 'Foreground' });
    expect(left?.metadata.finalizers).to.include('foregroundDeletion');
    await client.patch(ConfigMap, key, { type: 'merge', body: { metadata: { finalizers: null } } });
  });

  it('deleteCollection deletes the selected objects and no others', async (subject) => {
    const { client, namespace } = subject;
    for (const name of ['a', 'b', 'c']) {
      const labels = { fate: name === 'c' ? 'stay' : 'go' };
      await client.create(configMapIn(subject, name, { metadata: { name, namespace, labels } }));
    }
    const labelSelector = { matchLabels: { fate: 'go' } };
    await client.deleteCollection(ConfigMap, { namespace, labelSelector });
    const { items } = await client.list(ConfigMap, { namespace, labelSelector: 'fate' });
    expect(items.map(({ metadata }) => metadata.name)).to.deep.equal(['c']);
  });
}
