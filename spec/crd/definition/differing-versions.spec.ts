import { expect } from 'chai';
import { InvalidDefinitionError, defineResource, s } from '../../../lib/crd/index.js';
import type { TypedSchema } from '../../../lib/crd/index.js';

/** Returns a call that defines a resource with two served versions and no conversion. */
function withField(one: TypedSchema<unknown>, other: TypedSchema<unknown>): () => unknown {
  return () =>
    defineResource({
      ...{ group: 'example.com', kind: 'Thing' },
      versions: [
        { name: 'v1', storage: true, schema: s.object({ spec: s.object({ a: one }) }) },
        { name: 'v2', schema: s.object({ spec: s.object({ a: other }) }) },
      ],
    });
}

describe('served versions of a kind without a conversion', () => {
  const text = s.object({ b: s.string() });
  const number = s.object({ b: s.integer() });
  for (const [what, path, one, other] of [
    ['the items of a list', '.spec.a[].b', s.array(text), s.array(number)],
    ['the values of a map', '.spec.a.*.b', s.map(text), s.map(number)],
  ] as const) {
    it(`are refused if they differ in ${what}`, () => {
      expect(withField(one, other)).to.throw(InvalidDefinitionError, `${path} differs between`);
      expect(withField(one, one)).not.to.throw();
    });
  }

  it('are refused if they have fields that the storage version lacks, even if the storage version is not served', () => {
    const versions = (served: boolean) =>
      [
        { name: 'v1', storage: true, served, schema: s.object({ spec: s.object({}) }) },
        { name: 'v2', schema: s.object({ spec: s.object({ a: s.string() }) }) },
      ] as const;
    const define = () =>
      defineResource({ group: 'example.com', kind: 'Thing', versions: versions(false) });
    expect(define).to.throw(
      InvalidDefinitionError,
      '.spec.a differs between the stored and served versions v1 and v2',
    );
    expect(define).to.throw('or serve and store only one of them');
  });
});
