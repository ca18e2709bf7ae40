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
    ['the UID of the controller', { ownerReferences: [controller] }, 'ours'],
    [
      'the UID with another API version',
      { ownerReferences: [{ ...controller, apiVersion: 'example.com/v2' }] },
      'ours',
    ],
    [
      'a controller of the same name with another UID',
      { ownerReferences: [{ ...controller, uid: 'old' }] },
      'earlier',
    ],
    [
      'a controller of the same name and another kind',
      { ownerReferences: [{ ...controller, uid: 'old', kind: 'Store' }] },
      'foreign',
    ],
    [
      'a controller of the same kind in another group',
      { ownerReferences: [{ ...controller, uid: 'old', apiVersion: 'example.org/v1' }] },
      'foreign',
    ],
    [
      'an owner that is not the controller',
      { ownerReferences: [{ ...controller, controller: false }] },
      'nobody',
    ],
    ['an object without owners', {}, 'nobody'],
    ['our label', marks('new'), 'ours'],
    ['the label of a previous owner of the same name', marks('old'), 'retained'],
    ['the label of another owner', marks('old', 'other'), 'nobody'],
    [
      'another controller beside our label',
      { ...marks('new'), ownerReferences: [{ ...controller, uid: 'x', name: 'y' }] },
      'foreign',
    ],
  ];
  for (const [title, metadata, state] of cases) {
    it(`classifies ${title} as ${state}`, () => {
      expect(ownershipOf(live(metadata), owner).state).to.equal(state);
    });
  }
});

describe('checkOwnership', () => {
  it('accepts an object without a controller only with the option adopt, and never an object of another controller', () => {
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
  it('names the finalizers of an object that is being deleted, or the previous owner of an object', () => {
    const deleting = live({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/b'] });
    expect(reasonToWait(deleting, owner)).to.equal('is being deleted, held by finalizers a/b');
    const ends = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['foregroundDeletion'] };
    expect(reasonToWait(live(ends), owner)).to.equal('is being deleted');
    const left = live({ ownerReferences: [{ ...controller, uid: 'old' }] });
    expect(reasonToWait(left, owner)).to.include('an earlier Shop shops/shop');
    expect(reasonToWait(live({ ownerReferences: [controller] }), owner)).to.equal(undefined);
  });
});
