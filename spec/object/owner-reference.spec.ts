import { expect } from 'chai';
import { deepFreeze } from '../../lib/object/deep-freeze.js';
import {
  controllerOf,
  isControlledBy,
  ownerReferenceTo,
  withControllerReference,
} from '../../lib/object/owner-reference.js';

const owner = deepFreeze({
  apiVersion: 'example.com/v1',
  kind: 'Tenant',
  metadata: { namespace: 'shop', name: 'acme', uid: 'u-1' },
});
const object = deepFreeze({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'shop', name: 'web', labels: { a: 'b' } },
  data: { key: 'value' },
});
const inNamespace = { ownerNamespaced: true, objectNamespaced: true };
const reference = {
  apiVersion: 'example.com/v1',
  kind: 'Tenant',
  name: 'acme',
  uid: 'u-1',
  controller: true,
  blockOwnerDeletion: true,
};

const owned = (...ownerReferences: (typeof reference)[]) => ({
  ...object,
  metadata: { ...object.metadata, ownerReferences },
});

describe('withControllerReference', () => {
  it('adds a controller that its foreground deletion waits for', () => {
    const result = withControllerReference(object, owner, inNamespace);
    expect(result).to.deep.equal(owned(reference));
  });

  it('returns the object itself where nothing is to change', () => {
    const before = owned(reference);
    expect(withControllerReference(before, owner, inNamespace)).to.equal(before);
    const older = owned({ ...reference, apiVersion: 'example.com/v1alpha1' });
    expect(withControllerReference(older, owner, inNamespace)).to.equal(older);
  });

  it('keeps other owners and turns our plain reference into the controller, in place', () => {
    const other = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u-2' } as typeof reference;
    const plain = { ...reference, controller: false };
    const result = withControllerReference(owned(plain, other), owner, inNamespace);
    expect(result.metadata).to.have.deep.property('ownerReferences', [reference, other]);
  });

  it('refuses an object that another owner controls, and names it', () => {
    const before = owned({ ...reference, kind: 'Other', name: 'rival', uid: 'u-9' });
    expect(() => withControllerReference(before, owner, inNamespace))
      .to.throw(
        "ConfigMap shop/web: can't be controlled by Tenant shop/acme, its controller is Other rival",
      )
      .with.property('code', 'AlreadyOwned');
  });

  it('refuses an object of an earlier owner of the same name', () => {
    const before = owned({ ...reference, uid: 'u-0' });
    expect(() => withControllerReference(before, owner, inNamespace))
      .to.throw('earlier life')
      .with.nested.property('controller.uid', 'u-0');
  });

  const refused = [
    { title: 'across namespaces', namespace: 'other', scopes: inNamespace },
    { title: 'for an object without a namespace', namespace: '', scopes: inNamespace },
    {
      title: 'from a namespaced owner to a cluster-scoped object',
      namespace: '',
      scopes: { ownerNamespaced: true, objectNamespaced: false },
    },
  ];
  for (const { title, namespace, scopes } of refused) {
    it(`refuses a reference ${title}`, () => {
      const target = { ...object, metadata: { name: 'web', namespace } };
      expect(() => withControllerReference(target, owner, scopes))
        .to.throw("Tenant shop/acme can't own ConfigMap")
        .with.property('code', 'InvalidOwner');
    });
  }

  it('lets a cluster-scoped owner own objects of any scope', () => {
    const cluster = { ...owner, metadata: { name: 'acme', uid: 'u-1' } };
    for (const objectNamespaced of [true, false]) {
      const scopes = { ownerNamespaced: false, objectNamespaced };
      expect(controllerOf(withControllerReference(object, cluster, scopes))).to.deep.equal(
        reference,
      );
    }
  });
});

describe('ownerReferenceTo', () => {
  it('sets no flags by default', () => {
    const { apiVersion, kind, name, uid } = reference;
    expect(ownerReferenceTo(owner)).to.deep.equal({ apiVersion, kind, name, uid });
  });

  it('refuses an owner that was not read from the server', () => {
    expect(() => ownerReferenceTo({ ...owner, metadata: { name: 'acme' } }))
      .to.throw('has no UID')
      .with.property('code', 'InvalidOwner');
  });
});

describe('isControlledBy', () => {
  it('compares UIDs, never names', () => {
    expect(isControlledBy(owned(reference), owner)).to.equal(true);
    expect(isControlledBy(owned({ ...reference, uid: 'u-0' }), owner)).to.equal(false);
    expect(isControlledBy(owned({ ...reference, controller: false }), owner)).to.equal(false);
    const unborn = { ...owner, metadata: { name: 'acme' } };
    expect(isControlledBy(object, unborn)).to.equal(false);
  });
});
