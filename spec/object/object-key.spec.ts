import { expect } from 'chai';
import type { ObjectMeta } from '../../lib/object/kubernetes-object.js';
import { keyOf, keyString, keyStringOf, parseKey, sameKey } from '../../lib/object/object-key.js';

const web = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', name: 'web' } };
const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', uid: 'u-1' } };

describe('object keys', () => {
  it('contain the name, and the namespace if set', () => {
    expect(keyOf(web)).to.deep.equal({ namespace: 'shop', name: 'web' });
    expect(keyOf(shop)).to.deep.equal({ name: 'shop' });
    expect(keyOf({ ...web, metadata: { name: 'web', namespace: '' } })).to.deep.equal({
      name: 'web',
    });
  });

  it('can be spread into metadata', () => {
    const metadata: ObjectMeta = { ...keyOf(web), labels: {} };
    expect(metadata).to.deep.equal({ namespace: 'shop', name: 'web', labels: {} });
  });

  it('have a text form, such as shop/web', () => {
    expect([keyStringOf(web), keyStringOf(shop)]).to.deep.equal(['shop/web', 'shop']);
    expect(keyString({ namespace: '', name: 'web' })).to.equal('web');
    expect(() => keyStringOf({ ...web, metadata: {} })).to.throw('metadata.name is missing');
  });

  it('cannot be taken from an object without a name', () => {
    expect(() => keyOf({ ...web, metadata: { generateName: 'web-' } }))
      .to.throw('ConfigMap: metadata.name is missing')
      .with.property('code', 'InvalidObject');
  });

  it('are unchanged by formatting and parsing', () => {
    for (const text of ['shop/web', 'web']) expect(keyString(parseKey(text))).to.equal(text);
  });

  for (const text of ['', '/', 'shop/', '/web', 'a/b/c']) {
    it(`are not parsed from ${JSON.stringify(text)}`, () => {
      expect(() => parseKey(text))
        .to.throw()
        .with.property('code', 'InvalidValue');
    });
  }

  it('are equal without a namespace and with an empty one', () => {
    expect(sameKey({ name: 'a' }, { namespace: '', name: 'a' })).to.equal(true);
    expect(sameKey({ name: 'a' }, { namespace: 'x', name: 'a' })).to.equal(false);
    expect(sameKey({ name: 'a' }, { name: 'b' })).to.equal(false);
  });
});
