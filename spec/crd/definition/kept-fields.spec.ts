import { expect } from 'chai';
import { defineResource, s } from '../../../lib/crd/index.js';
import type { UnstructuredObject } from '../../../lib/object/index.js';

describe('Fields that the target version of a conversion lacks, kept in annotations', () => {
  const prefix = 'kept-fields.operator-builder.io';
  const noParts = Object.freeze({ limit: 1 });
  const part = s.object({ name: s.string(), count: s.defaulted(s.integer(), 1) });
  const names = s.optional(s.array(s.string()));
  const limits = s.optional(
    s.object({ limit: s.optional(s.integer()), burst: s.optional(s.integer()) }),
  );
  const Widget = defineResource({
    ...{ group: 'example.com', kind: 'Widget' },
    versions: [
      {
        name: 'v2',
        storage: true,
        schema: s.object({
          spec: s.object({ title: s.string(), parts: s.optional(s.array(part)), limits }),
          note: s.optional(s.string()),
        }),
        status: s.object({ verified: s.boolean() }),
      },
      { name: 'v1', schema: s.object({ spec: s.object({ title: s.string(), names, limits }) }) },
      { name: 'v1alpha1', schema: s.object({ spec: s.object({ label: s.string() }) }) },
    ],
    conversion: {
      hub: 'v2',
      spokes: {
        v1: {
          toHub: ({ spec: { names: all, ...spec }, ...rest }) => ({
            ...rest,
            spec: {
              ...spec,
              ...(all !== undefined && { parts: all.map((name) => ({ name, count: 1 })) }),
            },
          }),
          fromHub: ({ spec: { parts, title }, apiVersion, kind, metadata }) => ({
            ...{ apiVersion, kind, metadata },
            spec: {
              title,
              limits: noParts,
              ...(parts !== undefined && { names: parts.map(({ name }) => name) }),
            },
          }),
        },
        v1alpha1: {
          toHub: ({ spec, ...rest }) => {
            if (spec.label === '') throw new Error('no label');
            return { ...rest, spec: { title: spec.label } };
          },
          fromHub: ({ spec, apiVersion, kind, metadata }) => ({
            ...{ apiVersion, kind, metadata },
            spec: { label: spec.title },
          }),
        },
      },
    },
  });
  const object = (version: string, fields: object, annotations?: Record<string, string>) => {
    const metadata = { name: 'a', ...(annotations !== undefined && { annotations }) };
    const type = { apiVersion: `example.com/${version}`, kind: 'Widget' };
    return { ...type, metadata, ...fields } as UnstructuredObject;
  };
  const to = (version: string, given: UnstructuredObject): UnstructuredObject =>
    Widget.convert(given, `example.com/${version}`);
  const parts = [
    { name: 'a', count: 2 },
    { name: 'b', count: 1 },
  ];
  const whole = object('v2', { spec: { title: 't', parts, limits: { burst: 5 } }, note: 'n' });

  it('are restored when the object is converted back, and leave no annotation', () => {
    for (const version of ['v1', 'v1alpha1']) {
      expect(to('v2', to(version, whole)), version).to.deep.equal(whole);
    }
  });

  it('need no annotation if the converter represents all of them in the target version', () => {
    const plain = object('v2', { spec: { title: 't', limits: { limit: 1 } } });
    expect(to('v1', plain).metadata).to.deep.equal({ name: 'a' });
  });

  it('are restored after a conversion through a third version', () => {
    const old = to('v1alpha1', to('v1', whole));
    expect(old['spec']).to.deep.equal({ label: 't' });
    expect(to('v2', old)).to.deep.equal(whole);
  });

  it('are restored one by one, so that a change of one field does not affect the others', () => {
    const old = to('v1', whole);
    const changed = { ...old, spec: { ...(old['spec'] as object), names: ['a', 'c'] } };
    expect(to('v2', changed)).to.deep.include({
      spec: {
        title: 't',
        parts: [
          { name: 'a', count: 1 },
          { name: 'c', count: 1 },
        ],
        limits: { burst: 5 },
      },
      note: 'n',
    });
  });

  it('do not change values that a converter shares among objects', () => {
    const old = object('v1', { spec: { title: 't', limits: { limit: 1, burst: 7 } } });
    const stored = to('v2', old);
    expect(to('v1', stored)['spec']).to.deep.equal({ title: 't', limits: { limit: 1, burst: 7 } });
    expect(noParts).to.deep.equal({ limit: 1 });
  });

  it('do not change other annotations', () => {
    const given = { ...whole, metadata: { name: 'a', annotations: { x: 'y' } } };
    const old = to('v1alpha1', given);
    expect(old.metadata.annotations).to.have.all.keys(
      ...['x', `${prefix}/v2.spec.parts`, `${prefix}/v2.note`],
      ...[`${prefix}/v2.spec.limits`, `${prefix}/v2.spec.limits.burst`],
    );
    expect(to('v2', old)).to.deep.equal(given);
  });

  it('are restored one by one if some of their annotations are missing', () => {
    const given = object('v2', { spec: { title: 't', limits: { limit: 1, burst: 5 } }, note: 'n' });
    const { metadata, ...old } = to('v1alpha1', given);
    const { [`${prefix}/v2.spec.limits.limit`]: gone, ...annotations } = metadata.annotations ?? {};
    expect(gone).to.be.a('string');
    expect(to('v2', { ...old, metadata: { ...metadata, annotations } })).to.deep.include({
      spec: { title: 't', limits: { burst: 5 } },
      note: 'n',
    });
  });

  const kept = (...fields: readonly unknown[]): UnstructuredObject =>
    object(
      'v1alpha1',
      { spec: { label: 't' } },
      Object.fromEntries(
        fields.map((field, index) => [
          `${prefix}/${index}`,
          typeof field === 'string' ? field : JSON.stringify(field),
        ]),
      ),
    );

  it('are lost if their annotation is damaged', () => {
    for (const field of [
      ...['{', '1', { version: 'v2' }, { version: 'v2', path: [], value: 1 }],
      { version: 'v2', path: ['spec', 'x', 'y'], value: 1 },
      ...[
        { path: ['note'], value: 'n' },
        { version: 'v2', path: ['spec', 1], value: 1 },
      ],
      { version: 'v2', path: ['spec', 'limits', 'burst'], shared: 0, value: 1 },
    ]) {
      const { spec, metadata } = to('v2', kept(field));
      expect({ spec, metadata }, JSON.stringify(field)).to.deep.equal({
        spec: { title: 't' },
        metadata: { name: 'a' },
      });
    }
  });

  it('are lost only where the schema refuses their value', () => {
    const burst = { version: 'v2', path: ['spec', 'limits', 'burst'], shared: 2 };
    const limit = { version: 'v2', path: ['spec', 'limits', 'limit'], shared: 2 };
    const note = { version: 'v2', path: ['note'], value: 'n' };
    const converted = to('v2', kept({ ...burst, value: 'x' }, { ...limit, value: 1 }, note));
    expect(converted).to.deep.include({ spec: { title: 't' }, note: 'n' });
    const spec = { version: 'v2', path: ['spec'], converted: { title: 't' } };
    expect(to('v2', kept(spec))['spec']).to.deep.equal({ title: 't' });
  });

  it('are never restored in the metadata, the apiVersion, the kind or the status', () => {
    const fields = [
      { version: 'v2', path: ['metadata', 'name'], value: 'b', converted: 'a' },
      { version: 'v2', path: ['apiVersion'], value: 'b/v1', converted: 'example.com/v2' },
      { version: 'v2', path: ['kind'], value: 'B', converted: 'Widget' },
      { version: 'v2', path: ['status', 'verified'], value: true },
    ];
    expect(to('v2', kept(...fields))).to.deep.equal(object('v2', { spec: { title: 't' } }));
  });

  it('do not make a conversion fail if converting back fails', () => {
    const unnamed = object('v2', { spec: { title: '' } });
    expect(to('v1alpha1', unnamed)).to.deep.equal(object('v1alpha1', { spec: { label: '' } }));
  });
});
