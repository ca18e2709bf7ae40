import { expect } from 'chai';
import fc from 'fast-check';
import { byLabel, controllerUidIndex, namespaceIndex } from '../../lib/cache/indexer.js';
import { ObjectStore } from '../../lib/cache/store.js';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';
import { keyOf, keyString } from '../../lib/object/object-key.js';

const objects: fc.Arbitrary<KubernetesObject> = fc
  .record({
    name: fc.constantFrom('a', 'b', 'c'),
    namespace: fc.constantFrom(undefined, 'x', 'y'),
    owner: fc.constantFrom(undefined, 'u1', 'u2'),
    app: fc.constantFrom(undefined, 'web', 'db'),
  })
  .map(({ name, namespace, owner, app }) => {
    const reference = {
      apiVersion: 'v1',
      kind: 'O',
      name: 'o',
      uid: owner ?? '',
      controller: true,
    };
    const metadata = {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(owner !== undefined && { ownerReferences: [reference] }),
      ...(app !== undefined && { labels: { app } }),
    };
    return { apiVersion: 'v1', kind: 'O', metadata };
  });

describe('ObjectStore', () => {
  it('finds the same objects by every index as a search through all objects', () => {
    const changes = fc.array(fc.record({ object: objects, gone: fc.boolean() }));
    const property = fc.property(changes, fc.nat(), (list, late) => {
      const store = new ObjectStore();
      const all = new Map<string, KubernetesObject>();
      list.forEach(({ object, gone }, at) => {
        // A late index covers earlier objects.
        if (at === late % list.length) store.addIndexer('app', byLabel('app'));
        const key = keyString(keyOf(object));
        if (gone) store.take(key, undefined);
        else store.put(key, object);
        if (gone) all.delete(key);
        else all.set(key, object);
      });
      if (list.length === 0) return;
      const expected = (matches: (object: KubernetesObject) => boolean): KubernetesObject[] =>
        [...all.values()].filter(matches);
      const inX = expected(({ metadata }) => metadata.namespace === 'x');
      const ofU1 = expected(({ metadata }) => metadata.ownerReferences?.[0]?.uid === 'u1');
      const web = expected(({ metadata }) => metadata.labels?.['app'] === 'web');
      expect(store.byIndex(namespaceIndex, 'x')).to.have.members(inX);
      expect(store.byIndex(controllerUidIndex, 'u1')).to.have.members(ofU1);
      expect(store.byIndex('app', 'web')).to.have.members(web);
      expect([...store.values()]).to.have.members([...all.values()]);
      expect(store.size).to.equal(all.size);
    });
    fc.assert(property);
  });

  it('accepts the same index twice, and rejects another index of the same name', () => {
    const store = new ObjectStore();
    const app = byLabel('app');
    store.addIndexer('app', app);
    store.addIndexer('app', app);
    const other = (): void => store.addIndexer('app', byLabel('tier'));
    expect(other).to.throw('index app').with.property('code', 'InvalidOption');
  });

  it('emits a deletion with the final state from the watch', () => {
    const object = { apiVersion: 'v1', kind: 'O', metadata: { name: 'a', uid: 'u' } };
    const store = new ObjectStore();
    store.put('a', object);
    expect(store.take('a', object)).to.deep.equal([
      { type: 'deleted', object, finalStateUnknown: false },
    ]);
    expect(store.take('a', object)).to.deep.equal([]);
  });
});
