import { expect } from 'chai';
import { defineResource, s } from '../../../lib/crd/index.js';
import type { UnstructuredObject } from '../../../lib/object/index.js';

describe('List items that another version of a kind cannot represent, after a conversion to this version and back', () => {
  const protocol = s.defaulted(s.string(), 'TCP');
  const port = s.object({
    ...{ port: s.integer(), protocol, name: s.optional(s.string()) },
    color: s.optional(s.string({ maxLength: 5 })),
  });
  const oldPort = s.object({ port: s.integer(), name: s.optional(s.string()) });
  const ports = s.optional(s.array(port, { listType: 'map', listMapKeys: ['port', 'protocol'] }));
  const oldPorts = s.optional(s.array(oldPort, { listType: 'map', listMapKeys: ['port'] }));
  const tags = s.optional(s.array(s.string(), { listType: 'set' }));
  interface Old {
    readonly spec: { readonly ports?: readonly { readonly port: number }[] };
  }
  interface Hub {
    readonly spec: {
      readonly ports?: readonly { port: number; protocol: string; name?: string }[];
      readonly tags?: readonly string[];
    };
  }
  const conversion = {
    // The protocol of a port gets its default value.
    toHub: (old: Old) => old,
    // The old version has only the TCP ports, and no tag that begins with x.
    fromHub: ({ spec, ...rest }: Hub) => ({
      ...rest,
      spec: {
        ...(spec.ports && {
          ports: spec.ports
            .filter((one) => one.protocol === 'TCP')
            .map(({ port: number, name }) => ({ port: number, ...(name && { name }) })),
        }),
        ...(spec.tags && { tags: spec.tags.filter((tag) => !tag.startsWith('x')) }),
      },
    }),
  };
  const inner = s.optional(s.object({ ports }));
  const Shop = defineResource({
    ...{ group: 'example.com', kind: 'Shop' },
    versions: [
      { name: 'v2', storage: true, schema: s.object({ spec: s.object({ ports, tags, inner }) }) },
      { name: 'v1', schema: s.object({ spec: s.object({ ports: oldPorts, tags }) }) },
    ],
    conversion: { hub: 'v2', spokes: { v1: conversion as never } },
  });
  const object = (version: string, spec: object): UnstructuredObject => ({
    ...{ apiVersion: `example.com/${version}`, kind: 'Shop', metadata: { name: 'a' } },
    spec,
  });
  const [http, dns, https] = [
    { port: 80, protocol: 'TCP', name: 'http', color: 'red' },
    { port: 53, protocol: 'UDP', name: 'dns', color: 'blue' },
    { port: 443, protocol: 'TCP', color: 'green' },
  ];
  const [oldHttp, oldHttps] = [{ port: 80, name: 'http' }, { port: 443 }];

  /** Returns the v2 spec of an object after a client has applied `change` to its v1 spec. */
  const changed = (spec: object, change: (old: Record<string, unknown>) => object): unknown => {
    const old = Shop.convert(object('v2', spec), 'example.com/v1');
    const written = { ...old, spec: change(old['spec'] as Record<string, unknown>) };
    return Shop.withDefaults(Shop.convert(written, 'example.com/v2'))['spec'];
  };
  const same = (old: object): object => old;

  it('are restored with their fields, at their places in the list', () => {
    const spec = {
      ports: [http, dns, https],
      tags: ['xa', 'b', 'xc'],
      inner: { ports: [dns, http] },
    };
    expect(changed(spec, same)).to.deep.equal(spec);
    for (const few of [{ ports: [dns] }, { ports: [], tags: [] }, { inner: { ports: [] } }]) {
      expect(changed(few, same)).to.deep.equal(few);
    }
  });

  it('are restored completely if a client changes another item', () => {
    const spec = { ports: [http, dns, https] };
    const renamed = { ports: [{ ...oldHttp, name: 'web' }, oldHttps] };
    expect(changed(spec, () => renamed)).to.deep.equal({
      ports: [{ ...http, name: 'web' }, dns, https],
    });
  });

  it('keep their own fields if a client changes the order of the list', () => {
    const spec = { ports: [http, https] };
    expect(changed(spec, () => ({ ports: [oldHttps, oldHttp] }))).to.deep.equal({
      ports: [https, http],
    });
  });

  it('are not restored if a client has removed the item or the list', () => {
    const spec = { ports: [http, https], tags: ['a', 'b'] };
    expect(changed(spec, () => ({ ports: [oldHttps], tags: ['b'] }))).to.deep.equal({
      ports: [https],
      tags: ['b'],
    });
    expect(changed({ ports: [http, dns] }, () => ({}))).to.deep.equal({});
  });

  it('do not get their fields copied to a new item', () => {
    const spec = { ports: [http] };
    expect(changed(spec, () => ({ ports: [{ port: 8080, name: 'http' }] }))).to.deep.equal({
      ports: [{ port: 8080, protocol: 'TCP', name: 'http' }],
    });
  });

  it('are restored if a client changes the other items of their list', () => {
    const spec = { ports: [dns, http], tags: ['xa', 'b'] };
    const next = { ports: [oldHttps], tags: ['b', 'c'] };
    expect(changed(spec, () => next)).to.deep.equal({
      ports: [dns, { port: 443, protocol: 'TCP' }],
      tags: ['xa', 'b', 'c'],
    });
  });

  it('keep an order that a conversion changes, unless a client also changes it', () => {
    const sorted = defineResource({
      ...{ group: 'example.com', kind: 'Shop' },
      versions: [
        { name: 'v2', storage: true, schema: s.object({ spec: s.object({ ports, tags }) }) },
        { name: 'v1', schema: s.object({ spec: s.object({ ports, tags }) }) },
      ],
      conversion: {
        hub: 'v2',
        spokes: {
          v1: {
            toHub: (old) => old,
            fromHub: ({ spec, ...rest }) => ({
              ...rest,
              spec: {
                ports: [...(spec.ports ?? [])].sort((one, other) => one.port - other.port),
                tags: [...(spec.tags ?? [])].filter((tag) => !tag.startsWith('x')).sort(),
              },
            }),
          },
        },
      },
    });
    const after = (change: (old: { ports: object[]; tags: string[] }) => object): unknown => {
      const spec = { ports: [http, dns, https], tags: ['c', 'xb', 'a', 'b'] };
      const old = sorted.convert(object('v2', spec), 'example.com/v1');
      const written = { ...old, spec: change(old['spec'] as never) };
      return sorted.convert(written, 'example.com/v2')['spec'];
    };
    expect(after((old) => old)).to.deep.equal({
      ports: [http, dns, https],
      tags: ['c', 'xb', 'a', 'b'],
    });
    const ssh = { port: 22, protocol: 'TCP' };
    expect(
      after((old) => ({ ports: [ssh, ...old.ports.slice(1)], tags: [...old.tags, 'd'] })),
    ).to.deep.equal({ ports: [ssh, http, https], tags: ['c', 'xb', 'a', 'b', 'd'] });
    expect(
      after(({ ports: [first, ...rest] }) => ({ ports: [...rest, first], tags: [] })),
    ).to.deep.equal({ ports: [http, https, dns], tags: ['xb'] });
  });

  const Gate = defineResource({
    ...{ group: 'example.com', kind: 'Gate' },
    versions: [
      {
        name: 'v2',
        storage: true,
        schema: s.object({
          spec: s.object({
            ...{ ports, note: s.optional(s.string()) },
            targets: s.optional(s.array(s.intOrString(), { listType: 'set' })),
          }),
        }),
      },
      { name: 'v1', schema: s.object({ spec: s.object({}) }) },
    ],
    conversion: {
      hub: 'v2',
      spokes: {
        v1: {
          toHub: (old) => ({ ...old, spec: {} }),
          fromHub: (gate) => ({ ...gate, spec: {} }),
        },
      },
    },
  });
  const gate = (spec: object, annotations: Record<string, string> = {}): UnstructuredObject => ({
    ...{ apiVersion: 'example.com/v2', kind: 'Gate', metadata: { name: 'a', annotations } },
    spec,
  });
  const bytesOf = ({ metadata: { annotations = {} } }: UnstructuredObject): number =>
    Object.entries(annotations).flat().join('').length;
  const portsOf = (count: number): readonly object[] =>
    Array.from({ length: count }, (_, index) => ({
      ...{ port: index, protocol: 'TCP', name: `port-${index}`, color: 'red' },
    }));

  it('are not confused if one is a number and another a string of the same digits', () => {
    const targets = [80, '80', 443];
    const old = Gate.convert(gate({ targets }), 'example.com/v1');
    expect(Gate.convert(old, 'example.com/v2')['spec']).to.deep.equal({ targets });
  });

  it('are kept in one annotation for the whole list if an annotation for each item does not fit', () => {
    for (const count of [2, 400, 2000]) {
      const whole = gate({ ports: portsOf(count), note: 'n' });
      const old = Gate.convert(whole, 'example.com/v1');
      expect(bytesOf(old), String(count)).to.be.lessThan(200 * 1024);
      expect(Gate.convert(old, 'example.com/v2')['spec']).to.deep.equal(whole['spec']);
    }
  });

  it('are lost if they do not fit into the annotations, while other fields are kept', () => {
    for (const [spec, ownBytes] of [
      [{ ports: portsOf(6000), note: 'n' }, 0],
      [{ ports: portsOf(1000), note: 'n' }, 150 * 1024],
    ] as const) {
      const own = ownBytes === 0 ? {} : { own: 'x'.repeat(ownBytes) };
      const old = Gate.convert(gate(spec, own), 'example.com/v1');
      expect(bytesOf(old)).to.be.lessThan(200 * 1024);
      expect(Gate.convert(old, 'example.com/v2')['spec']).to.deep.equal({ note: 'n' });
    }
  });

  it('lose only kept fields that the schema refuses', () => {
    const ports200 = Array.from({ length: 200 }, (_, index) => ({
      ...{ port: index + 1, protocol: 'TCP', color: 'red' },
    }));
    const old = Shop.convert(object('v2', { ports: ports200 }), 'example.com/v1');
    const { annotations = {} } = old.metadata;
    const forged = Object.entries(annotations).map(([name, text]) => [
      name,
      name.endsWith('.7.TCP.color') ? text.replace('red', 'purple') : text,
    ]);
    const metadata = { ...old.metadata, annotations: Object.fromEntries(forged) as never };
    const { ports: after } = Shop.convert({ ...old, metadata }, 'example.com/v2')['spec'] as {
      ports: readonly { port: number; color?: string }[];
    };
    expect(after.filter(({ color }) => color !== 'red').map((one) => one.port)).to.deep.equal([7]);
  });

  it('do not make a conversion fail if the JSON in the annotations is nested too deeply', () => {
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const path = JSON.stringify(['spec', ...Array<string>(50_000).fill('a')]);
    for (const [name, text] of [
      ['value', `{"version":"v2","path":["spec","tags"],"value":${nested}}`],
      ['path', `{"version":"v2","path":${path},"shared":1,"value":1,"converted":{}}`],
      ['other', `{"version":"v3","path":["spec","tags"],"value":${nested}}`],
    ] as const) {
      const old = object('v1', {});
      const annotations = { [`kept-fields.operator-builder.io/${name}`]: text };
      const marked = { ...old, metadata: { name: 'a', annotations } };
      expect(Shop.convert(marked, 'example.com/v2')['spec'], name).to.deep.equal({});
    }
  });

  it('do not slow down a conversion if the schema refuses many kept fields', () => {
    const fields = Array.from({ length: 1000 }, (_, index) => ({
      ...{
        version: 'v2',
        path: ['spec', 'ports', { item: { port: index, protocol: 'TCP' }, at: 0 }],
      },
      value: { port: index, protocol: 'TCP', color: index % 2 === 0 ? 'refused' : 'red' },
    }));
    const annotations = Object.fromEntries(
      fields.map((field, index) => [
        `kept-fields.operator-builder.io/${index}`,
        JSON.stringify(field),
      ]),
    );
    const tags = Array.from({ length: 20_000 }, (_, index) => `${index} ${'x'.repeat(40)}`);
    const invalid = object('v1', { tags: [...tags, ...tags] });
    const marked = { ...invalid, metadata: { name: 'a', annotations } };
    // A search that has no limit takes a hundred seconds, longer than a spec may.
    expect(JSON.stringify(Shop.convert(marked, 'example.com/v2'))).not.to.include('"refused"');
  });
});
