import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { ObservedObjects } from '../../lib/feed/observed-objects.js';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';

const shop = { apiVersion: 'shop.example/v1', kind: 'Shop', name: 'a', uid: 'shop-a' };
const ownerReferences = [shop];

function web(resourceVersion: string, more: object = {}): KubernetesObject {
  const metadata = { name: 'web', namespace: 'shop', uid: 'web-1', resourceVersion, ...more };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata };
}

describe('ObservedObjects', () => {
  let objects: ObservedObjects;
  let reported: string[];

  beforeEach(() => {
    reported = [];
    objects = new ObservedObjects(({ type, object, previous }) => {
      const from = previous?.metadata.resourceVersion ?? '';
      reported.push(`${type} ${object.kind} ${from}>${object.metadata.resourceVersion ?? ''}`);
    });
    objects.use([{ group: 'shop.example', kind: 'Shop' }]);
  });

  for (const [first, second] of [
    ['wrote', 'watched'],
    ['watched', 'wrote'],
  ] as const) {
    it(`reports a change once if the operator ${first} the object before it ${second} it`, () => {
      objects[first]('ADDED', web('1'));
      objects[second]('ADDED', web('1'));
      objects[first]('MODIFIED', web('3'));
      objects[second]('MODIFIED', web('3'));
      expect(reported).to.deep.equal(['ADDED Deployment >1', 'MODIFIED Deployment 1>3']);
    });
  }

  it('reports a deletion once, whether the response or the watch event comes first', () => {
    const [type, key] = [web('1'), { namespace: 'shop', name: 'web' }];
    objects.wrote('ADDED', web('1'));
    objects.deleted(type, key);
    objects.watched('MODIFIED', web('2'));
    objects.watched('DELETED', web('3'));
    objects.wrote('ADDED', web('4', { uid: 'web-2' }));
    objects.watched('DELETED', web('3'));
    objects.watched('DELETED', web('5', { uid: 'web-2' }));
    objects.deleted(type, key);
    expect(reported).to.deep.equal([
      ...['ADDED Deployment >1', 'DELETED Deployment >1'],
      ...['ADDED Deployment >4', 'DELETED Deployment >5'],
    ]);
  });

  it('keeps only a bounded number of deleted objects in memory', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const seen: WeakRef<KubernetesObject>[] = [];
    for (let n = 0; n < 3_000; n++) {
      const object = web(String(2 * n), { name: `web-${n}`, uid: `web-${n}` });
      seen.push(new WeakRef(object));
      objects.wrote('ADDED', object);
      objects.deleted(object, { namespace: 'shop', name: `web-${n}` });
      objects.watched('DELETED', web(String(2 * n + 1), { name: `web-${n}`, uid: `web-${n}` }));
    }
    await new Promise(setImmediate);
    collect();
    expect(reported).to.have.length(2 * seen.length);
    expect(seen.filter((each) => each.deref() !== undefined)).to.have.length.below(1_003);
  });

  it("reports what other clients change in the operator's custom resources, their dependents, and objects that the operator wrote", () => {
    objects.watched('ADDED', { ...web('1'), apiVersion: 'shop.example/v2', kind: 'Shop' });
    objects.watched('ADDED', web('2', { ownerReferences }));
    objects.read(web('3', { name: 'loose', uid: 'loose' }));
    objects.wrote('MODIFIED', web('4', { name: 'loose', uid: 'loose' }));
    objects.watched('MODIFIED', web('5', { name: 'loose', uid: 'loose' }));
    expect(reported).to.deep.equal([
      ...['ADDED Shop >1', 'ADDED Deployment >2'],
      ...['MODIFIED Deployment 3>4', 'MODIFIED Deployment 4>5'],
    ]);
  });

  it("does not report the deletion of an object that it has not seen before until the object's finalizers are removed", () => {
    const left = web('2', { deletionTimestamp: '2026-01-01T00:00:00Z' });
    objects.deleted(left, { namespace: 'shop', name: 'web' }, left);
    expect(reported).to.deep.equal([]);
    objects.watched('DELETED', web('3'));
    expect(reported).to.deep.equal(['DELETED Deployment >3']);
  });

  it('does not report objects that are unrelated to the operator, objects that exist at the start, or access reviews', () => {
    objects.read(web('1', { ownerReferences }));
    objects.watched('ADDED', web('2', { name: 'foreign', uid: 'foreign' }));
    objects.watched('DELETED', web('3', { name: 'foreign', uid: 'foreign' }));
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' };
    objects.wrote('ADDED', { ...review, metadata: {} });
    expect(reported).to.deep.equal([]);
  });
});
