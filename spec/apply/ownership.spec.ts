import { expect } from 'chai';
import { checkOwnership, ownershipOf, reasonToWait } from '../../lib/apply/index.js';
import type { KubernetesObject, OwnerReference } from '../../lib/object/kubernetes-object.js';

const owner: KubernetesObject = {
  apiVersion: 'example.com/v1',
  kind: 'Shop',
  metadata: { name: 'shop', namespace: 'shops', uid: 'new' },
};
const controller: OwnerReference = {
  ...{ apiVersion: 'example.com/v1', kind: 'Shop', name: 'shop', uid: 'new', controller: true },
};

function live(metadata: KubernetesObject['metadata']): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'env', ...metadata } };
}

const marks = (uid: string, name = 'shop'): KubernetesObject['metadata'] => ({
  labels: { 'operator-builder.io/owner-uid': uid },
  annotations: {
    'operator-builder.io/owner-kind': 'Shop.example.com',
    'operator-builder.io/owner-name': name,
  },
});

describe('ownershipOf', () => {
  const cases: readonly [string, KubernetesObject['metadata'], string][] = [
    ['by the UID of the controller', { ownerReferences: [controller] }, 'ours'],
    [
      'by that UID, whatever the version of its API',
      { ownerReferences: [{ ...controller, apiVersion: 'example.com/v2' }] },
      'ours',
    ],
    [
      'a name that came back is an earlier owner',
      { ownerReferences: [{ ...controller, uid: 'old' }] },
      'earlier',
    ],
    [
      'another kind of that name is somebody else',
      { ownerReferences: [{ ...controller, uid: 'old', kind: 'Store' }] },
      'foreign',
    ],
    [
      'another group of that kind is somebody else',
      { ownerReferences: [{ ...controller, uid: 'old', apiVersion: 'example.org/v1' }] },
      'foreign',
    ],
    [
      'an owner that does not control is nobody',
      { ownerReferences: [{ ...controller, controller: false }] },
      'nobody',
    ],
    ['nothing is nobody', {}, 'nobody'],
    ['by our mark', marks('new'), 'ours'],
    ['by the mark of an earlier owner of the name', marks('old'), 'retained'],
    ['not by the mark of another owner', marks('old', 'other'), 'nobody'],
    [
      'a controller counts before a mark',
      { ...marks('new'), ownerReferences: [{ ...controller, uid: 'x', name: 'y' }] },
      'foreign',
    ],
  ];
  for (const [title, metadata, state] of cases) {
    it(`${title}: ${state}`, () => {
      expect(ownershipOf(live(metadata), owner).state).to.equal(state);
    });
  }
});

describe('checkOwnership', () => {
  it('lets nobody be adopted, and never takes from another controller', () => {
    checkOwnership(live({}), owner, true);
    expect(() => checkOwnership(live({}), owner, false))
      .to.throw('adopt')
      .with.property('code', 'NotOurs');
    const foreign = live({ ownerReferences: [{ ...controller, uid: 'x', name: 'y' }] });
    expect(() => checkOwnership(foreign, owner, true))
      .to.throw('Shop y')
      .with.property('code', 'AlreadyOwned');
  });
});

describe('reasonToWait', () => {
  it('names finalizers of what is being deleted, and the earlier owner', () => {
    const deleting = live({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/b'] });
    expect(reasonToWait(deleting, owner)).to.equal('is being deleted (finalizers: a/b)');
    const left = live({ ownerReferences: [{ ...controller, uid: 'old' }] });
    expect(reasonToWait(left, owner)).to.include('an earlier Shop shops/shop');
    expect(reasonToWait(live({ ownerReferences: [controller] }), owner)).to.equal(undefined);
  });
});
