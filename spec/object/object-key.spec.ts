import { expect } from 'chai';
import type { ObjectMeta } from '../../lib/object/kubernetes-object.js';
import { keyOf, keyString, keyStringOf, parseKey, sameKey } from '../../lib/object/object-key.js';

const web = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', name: 'web' } };
const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', uid: 'u-1' } };

describe('the key of an object', () => {
  it('contains the name, and the namespace if there is one', () => {
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

  it('has a text form, such as shop/web', () => {
    expect([keyStringOf(web), keyStringOf(shop)]).to.deep.equal(['shop/web', 'shop']);
    expect(keyString({ namespace: '', name: 'web' })).to.equal('web');
    expect(() => keyStringOf({ ...web, metadata: {} })).to.throw('metadata.name is missing');
  });

  it('is refused for an object without a name', () => {
    expect(() => keyOf({ ...web, metadata: { generateName: 'web-' } }))
      .to.throw('ConfigMap: metadata.name is missing')
      .with.property('code', 'InvalidObject');
  });

  it('is unchanged after it is formatted and parsed', () => {
    for (const text of ['shop/web', 'web']) expect(keyString(parseKey(text))).to.equal(text);
  });

  for (const text of ['', '/', 'shop/', '/web', 'a/b/c']) {
    it(`is not parsed from ${JSON.stringify(text)}`, () => {
      expect(() => parseKey(text))
        .to.throw()
        .with.property('code', 'InvalidValue');
    });
  }

  it('without a namespace equals the key with an empty namespace', () => {
    expect(sameKey({ name: 'a' }, { namespace: '', name: 'a' })).to.equal(true);
    expect(sameKey({ name: 'a' }, { namespace: 'x', name: 'a' })).to.equal(false);
    expect(sameKey({ name: 'a' }, { name: 'b' })).to.equal(false);
  });
});
