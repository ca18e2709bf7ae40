import { expect } from 'chai';
import { referenceTo } from '../../lib/object/object-reference.js';

const web = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', name: 'web' } };
const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', uid: 'u-1' } };

describe('referenceTo', () => {
  it('carries the UID of an object that exists', () => {
    expect(referenceTo(shop)).to.deep.equal({
      apiVersion: 'v1',
      kind: 'Namespace',
      name: 'shop',
      uid: 'u-1',
    });
    expect(referenceTo(web)).not.to.have.property('uid');
  });
});
