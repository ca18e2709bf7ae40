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
  it('adds a controller reference that blocks foreground deletion of the owner', () => {
    const result = withControllerReference(object, owner, inNamespace);
    expect(result).to.deep.equal(owned(reference));
  });

  it('returns the same object when nothing changes', () => {
    const before = owned(reference);
    expect(withControllerReference(before, owner, inNamespace)).to.equal(before);
    const older = owned({ ...reference, apiVersion: 'example.com/v1alpha1' });
    expect(withControllerReference(older, owner, inNamespace)).to.equal(older);
  });

  it('keeps the other owners, and sets controller: true in an existing reference to the same owner', () => {
    const other = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u-2' } as typeof reference;
    const plain = { ...reference, controller: false };
    const result = withControllerReference(owned(plain, other), owner, inNamespace);
    expect(result.metadata).to.have.deep.property('ownerReferences', [reference, other]);
  });

  it('rejects an object with another controller, and names that controller', () => {
    const before = owned({ ...reference, kind: 'Other', name: 'rival', uid: 'u-9' });
    expect(() => withControllerReference(before, owner, inNamespace))
      .to.throw(
        "ConfigMap shop/web: can't be controlled by Tenant shop/acme, its controller is Other rival; choose another name, or remove that owner reference",
      )
      .with.property('code', 'AlreadyOwned');
  });

  it("rejects an object that an earlier object with the owner's name controls", () => {
    const before = owned({ ...reference, uid: 'u-0' });
    expect(() => withControllerReference(before, owner, inNamespace))
      .to.throw('an earlier object with that name')
      .with.nested.property('controller.uid', 'u-0');
    for (const other of [{ kind: 'Other' }, { name: 'rival' }]) {
      const foreign = owned({ ...reference, ...other, uid: 'u-0' });
      const adopt = () => withControllerReference(foreign, owner, inNamespace);
      expect(adopt)
        .to.throw()
        .with.property('message')
        .that.does.not.include('an earlier object with that name');
    }
  });

  const refused = [
    {
      title: 'across namespaces',
      why: 'an owner must be in the same namespace',
      ...{ namespace: 'other', scopes: inNamespace },
    },
    {
      title: 'for an object without a namespace',
      why: "the object has no namespace; set metadata.namespace to the owner's",
      ...{ namespace: '', scopes: inNamespace },
    },
    {
      title: 'from a namespaced owner to a cluster-scoped object',
      why: 'the owner is namespaced, the object is cluster-scoped',
      namespace: '',
      scopes: { ownerNamespaced: true, objectNamespaced: false },
    },
  ];
  for (const { title, why, namespace, scopes } of refused) {
    it(`rejects a reference ${title}`, () => {
      const target = { ...object, metadata: { name: 'web', namespace } };
      expect(() => withControllerReference(target, owner, scopes))
        .to.throw(/^Tenant shop\/acme can't own ConfigMap .*: /)
        .with.property('message')
        .that.includes(why);
      expect(() => withControllerReference(target, owner, scopes))
        .to.throw()
        .with.property('code', 'InvalidOwner');
    });
  }

  it('accepts a cluster-scoped owner for objects of any scope', () => {
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
  it('sets neither controller nor blockOwnerDeletion by default', () => {
    const { apiVersion, kind, name, uid } = reference;
    expect(ownerReferenceTo(owner)).to.deep.equal({ apiVersion, kind, name, uid });
  });

  it('rejects an owner that was not read from the server', () => {
    expect(() => ownerReferenceTo({ ...owner, metadata: { name: 'acme' } }))
      .to.throw('has no UID')
      .with.property('code', 'InvalidOwner');
    expect(() => ownerReferenceTo({ ...owner, metadata: { uid: 'u-1' } }))
      .to.throw('has no name')
      .with.property('code', 'InvalidOwner');
  });
});

describe('isControlledBy', () => {
  it('compares the UIDs of owner and reference, not their names', () => {
    expect(isControlledBy(owned(reference), owner)).to.equal(true);
    expect(isControlledBy(owned({ ...reference, uid: 'u-0' }), owner)).to.equal(false);
    expect(isControlledBy(owned({ ...reference, controller: false }), owner)).to.equal(false);
    const unborn = { ...owner, metadata: { name: 'acme' } };
    expect(isControlledBy(object, unborn)).to.equal(false);
  });
});
