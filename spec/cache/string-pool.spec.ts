import { expect } from 'chai';
import { StringPool } from '../../lib/cache/string-pool.js';
import { deepFreeze } from '../../lib/object/deep-freeze.js';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';

const object = (): KubernetesObject & { spec: unknown } => ({
  apiVersion: 'v1',
  kind: 'O',
  metadata: { name: 'a', namespace: 'ns', labels: { app: 'web' }, uid: 'u' },
  spec: { list: ['x', { y: 'z' }], long: 'l'.repeat(60), number: 1, nothing: null },
});

describe('StringPool', () => {
  it('changes nothing that can be seen, in frozen objects too', () => {
    const pool = new StringPool();
    for (const before of [object(), deepFreeze(object())]) {
      pool.share(before);
      expect(before).to.deep.equal(object());
    }
  });

  it('keeps a bounded number of texts, none that are unique or long', () => {
    const pool = new StringPool();
    pool.share(object());
    // v1, O, ns, web, x, z.
    expect(pool.size).to.equal(6);
    for (let n = 0; n < 100_000; n++) pool.pooled(`text ${n}`);
    expect(pool.size).to.be.at.most(2 * 8_192 + 1);
  });
});
