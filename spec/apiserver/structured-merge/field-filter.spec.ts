import { expect } from 'chai';
import { excludeFields } from '../../../lib/apiserver/structured-merge/index.js';
import { fieldPath, keyElement } from '../../../lib/object/field-path.js';
import { FieldSet } from '../../../lib/object/field-set.js';

const web = [...fieldPath('spec', 'containers'), keyElement({ name: 'web' })];
const set = FieldSet.of(
  fieldPath('status'),
  fieldPath('status', 'phase'),
  fieldPath('metadata', 'labels', 'a'),
  fieldPath('metadata', 'finalizers'),
  web,
  [...web, 'f:image'],
  [...web, ...fieldPath('resources', 'limits', 'cpu')],
);
const kept = (filtered: FieldSet) => filtered.toString().split('\n');

describe('excludeFields', () => {
  it('removes fields from a set, together with everything below them', () => {
    expect(
      kept(excludeFields('status', 'metadata.labels', 'spec.containers')(set, 'v1')),
    ).to.deep.equal(['.metadata.finalizers']);
  });

  it('returns the same set if it removes nothing', () => {
    expect(excludeFields('data')(set, 'v1')).to.equal(set);
  });
});
