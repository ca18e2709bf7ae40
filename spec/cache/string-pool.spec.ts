import { expect } from 'chai';
import { SharedStrings, StringPool } from '../../lib/cache/string-pool.js';
import { deepFreeze } from '../../lib/object/deep-freeze.js';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';

interface Thing extends KubernetesObject {
  readonly spec: unknown;
}

function thing(text = 'a text that all have'): Thing {
  const labels = { app: 'the same application' };
  const metadata = { name: 'the name of an object', namespace: 'a-namespace', labels, uid: 'u' };
  const long = 'l'.repeat(60);
  const spec = { list: [text, { short: 'z' }], long, number: 1, nothing: null };
  return { apiVersion: 'v1', kind: 'O', metadata, spec };
}

describe('SharedStrings', () => {
  it('change nothing that can be seen, in frozen objects too', () => {
    const strings = new SharedStrings(new StringPool());
    strings.share(thing());
    for (const object of [thing(), deepFreeze(thing())]) {
      strings.share(object);
      expect(object).to.deep.equal(thing());
    }
  });

  it('leave out texts that are short, long or unique', () => {
    const pool = new StringPool();
    new SharedStrings(pool).share(thing());
    // The label, the namespace, and the text in the spec.
    expect(pool.size).to.equal(3);
  });

  it('give up a part whose texts all differ, and go on with the other', () => {
    const pool = new StringPool();
    const strings = new SharedStrings(pool);
    for (let n = 0; n < 5_000; n++) strings.share(thing(`a text of object ${n}`));
    const { size } = pool;
    strings.share(thing('a text that is new'));
    expect(pool.size).to.equal(size);
    const metadata = { name: 'n', labels: { other: 'another application' } };
    strings.share({ ...thing(), metadata });
    expect(pool.size).to.equal(size + 1);
  });
});

describe('StringPool', () => {
  it('knows what it has seen, as the copy that it saw first', () => {
    const pool = new StringPool();
    expect(pool.shared('text')).to.equal(undefined);
    expect(pool.shared('text')).to.equal('text');
  });

  it('keeps a bounded number of texts, and what is used again', () => {
    const pool = new StringPool();
    for (let n = 0; n < 100_000; n++) {
      pool.shared(`text ${n}`);
      expect(pool.shared('used') === undefined).to.equal(n === 0);
    }
    expect(pool.size).to.be.at.most(2 * 4_096 + 1);
  });
});
