import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { defineResource, s } from '../../../lib/crd/index.js';

const metadata = { name: 'one', namespace: 'default' };

const Widget = defineResource({
  ...{ group: 'example.com', kind: 'Widget' },
  versions: [
    {
      name: 'v1',
      schema: s.object({
        spec: s.object({ size: s.defaulted(s.integer(), 1), label: s.optional(s.string()) }),
      }),
    },
  ],
});

describe('values of custom resources that JSON or the API server changes', () => {
  it('make it impossible to build the object if JSON replaces them by other values', () => {
    const build = (spec: object) => () => Widget.object({ metadata, spec: spec });
    expect(build({ size: NaN }))
      .to.throw('Widget one: spec.size has no JSON form, got NaN')
      .with.property('code', 'InvalidValue');
    expect(build({ label: new Map() })).to.throw(
      'Widget one: spec.label has no JSON form, got Map',
    );
    const invalid = { ...Widget.object({ metadata, spec: {} }), spec: Infinity };
    expect(() => Widget.validate(invalid)).to.throw('contains Infinity');
  });

  it('are accepted if they are null and their enum is nullable', async () => {
    const size = s.nullable(s.string({ enum: ['small', 'large'] }));
    const spec = s.object({ size, max: s.optional(s.nullable(s.integer({ enum: [1, 2] }))) });
    const Box = defineResource({
      ...{ group: 'example.com', kind: 'Box', plural: 'boxes' },
      versions: [{ name: 'v1', schema: s.object({ spec }) }],
    });
    const box = Box.object({ metadata, spec: { size: null, max: null } });
    expect(Box.validate(box)).to.deep.equal([]);
    expect(Box.validate({ ...box, spec: { size: 'huge' } } as never)).to.have.length.above(0);
    const cluster = await EmbeddedCluster.start({ crds: [Box] });
    const { spec: stored } = await cluster.client().create(box);
    expect(stored).to.deep.equal({ size: null, max: null });
    await cluster.stop();
  });

  it('are refused as a default if they are null, which the API server does not fill in', () => {
    const define = () => s.defaulted(s.nullable(s.string()), null);
    expect(define).to.throw('use s.optional').with.property('code', 'InvalidDefinition');
  });

  it('can be complete metadata of an embedded object', () => {
    const template = s.embeddedResource();
    const Holder = defineResource({
      ...{ group: 'example.com', kind: 'Holder' },
      versions: [{ name: 'v1', schema: s.object({ spec: s.object({ template }) }) }],
    });
    const whole = { name: 'a', namespace: 'b', finalizers: ['example.com/keep'] };
    const value = { apiVersion: 'v1', kind: 'ConfigMap', metadata: whole };
    const { spec } = Holder.object({ metadata, spec: { template: value } });
    expect(spec.template.metadata?.namespace).to.equal('b');
  });
});
