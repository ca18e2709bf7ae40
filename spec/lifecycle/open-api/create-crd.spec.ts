import { expect } from 'chai';
import { createCrd } from '../../../lib/lifecycle/index.js';

describe('createCrd', () => {
  it('defines a cluster-scoped kind with a status subresource, and prints the phase', () => {
    const { metadata, spec } = createCrd({ group: 'example.com', kind: 'SampleConfig' });
    expect(metadata.name).to.equal('sampleconfigs.example.com');
    expect(spec).to.include({ scope: 'Cluster' });
    const [version] = spec.versions;
    expect(version?.name).to.equal('v1alpha1');
    expect(version?.subresources).to.have.property('status');
    expect(version?.additionalPrinterColumns?.map(({ name }) => name)).to.deep.equal([
      'Age',
      'Phase',
    ]);
  });

  it('accepts version, plural and scope', () => {
    const options = { version: 'v2', plural: 'samples', scope: 'Namespaced' } as const;
    const { spec } = createCrd({ group: 'example.com', kind: 'SampleConfig' }, options);
    expect(spec).to.deep.include({ scope: 'Namespaced' });
    expect([spec.names.plural, spec.versions[0]?.name]).to.deep.equal(['samples', 'v2']);
  });

  it('rejects unknown options by name', () => {
    const options = { scop: 'Namespaced' } as object;
    const create = () => createCrd({ group: 'example.com', kind: 'X' }, options);
    expect(create)
      .to.throw(/createCrd: .*scop.*scope/)
      .with.property('code', 'InvalidOption');
  });

  it('rejects an invalid regular expression', () => {
    const create = () => createCrd({ group: 'example.com', kind: 'X' }, { nameRegex: '(' });
    expect(create).to.throw('is not a regular expression').with.property('code', 'InvalidOption');
  });
});
