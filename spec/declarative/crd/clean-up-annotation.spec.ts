import { expect } from 'chai';
import { cleanUpPolicyOf } from '../../../lib/declarative/crd/operator-resource.js';

describe('cleanUpPolicyOf', () => {
  const cases: readonly (readonly [string | undefined, string | undefined])[] = [
    [undefined, 'orphan'],
    ['orphan', 'orphan'],
    ['delete', 'delete'],
    ['Delete', 'delete'],
    ['ORPHAN', 'orphan'],
    ['', undefined],
    ['remove', undefined],
  ];
  for (const [written, policy] of cases) {
    it(`reads ${written === undefined ? 'a missing annotation' : `"${written}"`} as ${policy ?? 'an invalid policy'}`, () => {
      const annotations = written === undefined ? {} : { 'operator-builder.io/clean-up': written };
      const object = { apiVersion: 'v1', kind: 'Operator', metadata: { name: 'a', annotations } };
      expect(cleanUpPolicyOf(object)).to.equal(policy);
    });
  }
});
