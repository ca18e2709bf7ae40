import { expect } from 'chai';
import {
  addFinalizer,
  createOrPatch,
  createOrUpdate,
  removeFinalizer,
  retryOnConflict,
  setControllerReference,
  waitFor,
} from '../../../lib/client/index.js';
import { isConflict } from '../../../lib/object/api-error.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { failureOf } from '../scripted-transport.js';
import { configMapIn } from './contract-subject.js';
import type { Behaviour } from './contract-subject.js';

const finalizer = 'example.com/hold';

/** Declares the behaviours of functions built on a Client. */
export function helperContract(it: Behaviour): void {
  for (const createOr of [createOrUpdate, createOrPatch]) {
    it(`${createOr.name} creates, updates, and skips unchanged objects`, async (subject) => {
      const { client } = subject;
      const wanted = configMapIn(subject, 'a', { data: { mine: '1' } });
      const mutate = (value: string) => (object: ConfigMap) => ({
        ...object,
        data: { ...object.data, mine: value },
      });
      const first = await createOr(client, wanted, { mutate: mutate('1') });
      expect(first.operation).to.equal('created');
      await client.update({ ...first.object, data: { mine: '1', other: '1' } });
      const second = await createOr(client, wanted, { mutate: mutate('2') });
      expect(second.operation).to.equal('updated');
      expect(second.object.data).to.deep.equal({ mine: '2', other: '1' });
      const third = await createOr(client, wanted, { mutate: mutate('2') });
      expect(third.operation).to.equal('unchanged');
      expect(third.object).to.deep.equal(second.object);
    });
  }

  it('adding and removing a finalizer keeps the other finalizers of the object', async (subject) => {
    const { client, namespace } = subject;
    const metadata = { name: 'a', namespace, finalizers: ['example.com/other'] };
    const created = await client.create(configMapIn(subject, 'a', { metadata }));
    const held = await addFinalizer(client, created, { finalizer });
    expect(held.metadata.finalizers).to.deep.equal(['example.com/other', finalizer]);
    expect(await addFinalizer(client, held, { finalizer })).to.equal(held);
    const freed = await removeFinalizer(client, held, { finalizer });
    expect(freed?.metadata.finalizers).to.deep.equal(['example.com/other']);
    await removeFinalizer(client, freed!, { finalizer: 'example.com/other' });
  });

  it('adding a finalizer to an outdated version of an object fails with Conflict', async (subject) => {
    const { client } = subject;
    const old = await client.create(configMapIn(subject, 'a'));
    await client.update({ ...old, data: { a: '1' } });
    const error = await failureOf(addFinalizer(client, old, { finalizer }));
    expect(isConflict(error)).to.equal(true);
  });

  it('removing the last finalizer completes a deletion', async (subject) => {
    const { client, namespace } = subject;
    const key = { namespace, name: 'a' };
    const created = await client.create(
      configMapIn(subject, 'a', { metadata: { ...key, finalizers: [finalizer] } }),
    );
    const left = await client.delete(ConfigMap, key);
    expect(left?.metadata.uid).to.equal(created.metadata.uid);
    const gone = waitFor(client, created, { until: (now) => now === undefined, timeoutMs: 10_000 });
    await removeFinalizer(client, left!, { finalizer });
    expect(await gone).to.equal(undefined);
    expect(await removeFinalizer(client, left!, { finalizer })).to.equal(undefined);
  });

  it('waitFor waits until an object meets the condition', async (subject) => {
    const { client } = subject;
    const object = configMapIn(subject, 'a');
    const waiting = waitFor(client, object, {
      until: (now) => now?.data?.['ready'] === 'yes',
      timeoutMs: 10_000,
    });
    const created = await client.create(object);
    await client.update({ ...created, data: { ready: 'yes' } });
    expect((await waiting)?.data).to.deep.equal({ ready: 'yes' });
  });

  it('retryOnConflict reads again until the write succeeds', async (subject) => {
    const { client, namespace } = subject;
    await client.create(configMapIn(subject, 'a', { data: { n: '0' } }));
    const key = { namespace, name: 'a' };
    const increment = () =>
      retryOnConflict(
        async () => {
          const read = await client.get(ConfigMap, key);
          const n = Number(read.data?.['n']) + 1;
          await client.update({ ...read, data: { n: String(n) } });
        },
        { maxAttempts: 50 },
      );
    await Promise.all(Array.from({ length: 8 }, increment));
    expect((await client.get(ConfigMap, key)).data).to.deep.equal({ n: '8' });
  });

  it('setControllerReference creates a reference that the server accepts', async (subject) => {
    const { client } = subject;
    const owner = await client.create(configMapIn(subject, 'owner'));
    const owned = await setControllerReference(client, configMapIn(subject, 'owned'), owner);
    const { metadata } = await client.create(owned);
    const [reference] = metadata.ownerReferences ?? [];
    expect(reference).to.include({ controller: true, uid: owner.metadata.uid });
  });
}
