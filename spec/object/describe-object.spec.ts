import { expect } from 'chai';
import { describeObject } from '../../lib/object/describe-object.js';
import { referenceTo } from '../../lib/object/object-reference.js';

const web = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', name: 'web' } };
const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', uid: 'u-1' } };

describe('describeObject', () => {
  it('names an object by kind, namespace and name', () => {
    expect(describeObject(web)).to.equal('ConfigMap shop/web');
    expect(describeObject(shop)).to.equal('Namespace shop');
    expect(describeObject(referenceTo(web))).to.equal('ConfigMap shop/web');
    expect(describeObject(web, { name: 'other', namespace: 'ns' })).to.equal('ConfigMap ns/other');
  });

  it('shows generateName with an asterisk, and only the kind if there is no name', () => {
    const generated = { ...web, metadata: { namespace: 'shop', generateName: 'web-' } };
    expect(describeObject(generated)).to.equal('ConfigMap shop/web-*');
    expect(describeObject({ ...web, metadata: {} })).to.equal('ConfigMap');
  });
});
