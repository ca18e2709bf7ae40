import { expect } from 'chai';
import fc from 'fast-check';
import { fieldValue, matchesFields, parseFieldSelector } from '../../lib/object/field-selector.js';

describe('parseFieldSelector', () => {
  const cases = [
    { text: '', terms: [] },
    { text: 'a.b=c', terms: [{ field: 'a.b', operator: '=', value: 'c' }] },
    { text: 'a==c', terms: [{ field: 'a', operator: '=', value: 'c' }] },
    { text: 'a!=c', terms: [{ field: 'a', operator: '!=', value: 'c' }] },
    { text: 'a=', terms: [{ field: 'a', operator: '=', value: '' }] },
    { text: ',a=\\,\\=\\\\,', terms: [{ field: 'a', operator: '=', value: ',=\\' }] },
    {
      text: 'b=1,a!=2',
      terms: [
        { field: 'b', operator: '=', value: '1' },
        { field: 'a', operator: '!=', value: '2' },
      ],
    },
  ];
  for (const { text, terms } of cases) {
    it(`parses ${JSON.stringify(text)}`, () => {
      expect(parseFieldSelector(text)).to.deep.equal(terms);
    });
  }

  for (const text of ['a', 'a,b=c', 'a=b=c', 'a=\\b', 'a=b\\', 'a<b']) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      const parse = () => parseFieldSelector(text);
      expect(parse).to.throw('field selector').with.property('code', 'InvalidSelector');
    });
  }

  it('parses any list of terms, with their escaped values', () => {
    const term = fc.record({
      field: fc.stringMatching(/^[a-z.]+$/),
      operator: fc.constantFrom('=', '!='),
      value: fc.string(),
    });
    const property = fc.property(fc.array(term), (terms) => {
      const text = terms.map(
        ({ field, operator, value }) => field + operator + value.replaceAll(/[\\,=]/g, '\\$&'),
      );
      expect(parseFieldSelector(text.join())).to.deep.equal(terms);
    });
    fc.assert(property);
  });
});

describe('matchesFields', () => {
  const pod = {
    metadata: { name: 'web' },
    spec: { hostNetwork: true, priority: 0, containers: [] },
  };

  it('compares strings, numbers and booleans as text', () => {
    expect(matchesFields('metadata.name=web,spec.hostNetwork=true,spec.priority=0', pod)).to.equal(
      true,
    );
    expect(matchesFields('metadata.name!=web', pod)).to.equal(false);
  });

  it('treats an absent field as empty', () => {
    expect(matchesFields('spec.nodeName=', pod)).to.equal(true);
    expect(matchesFields('spec.nodeName!=node-1', pod)).to.equal(true);
    expect(fieldValue(pod, 'spec.containers.length')).to.equal('');
    expect(fieldValue(pod, 'constructor.name')).to.equal('');
  });

  it('accepts a function that returns the value of a field', () => {
    const upper = (field: string): string => field.toUpperCase();
    expect(matchesFields('a=A', upper)).to.equal(true);
  });
});
