import { expect } from 'chai';
import { defineResource, s, versionOfResource } from '../../lib/crd/index.js';
import { conversionWebhook } from '../../lib/manager/index.js';
import { withoutMembers } from '../../lib/object/index.js';
import type { KubernetesObject, UnstructuredObject } from '../../lib/object/index.js';
import { isOperatorError } from '../../lib/system/index.js';
import { assertRoundTrips, EmbeddedCluster, serveLocalWebhooks } from '../../lib/testing/index.js';
import type { RoundTripOptions } from '../../lib/testing/round-trips.js';

const port = s.object({ name: s.string(), port: s.integer({ minimum: 1, maximum: 65_535 }) });
const newSpec = s.object({
  title: s.string(),
  ports: s.optional(s.array(port, { listType: 'map', listMapKeys: ['name'] })),
  limits: s.optional(s.map(s.integer())),
});
const oldSpec = s.object({
  name: s.string(),
  ports: s.optional(s.array(port, { listType: 'map', listMapKeys: ['name'] })),
  limits: s.optional(s.map(s.integer())),
});

interface Hub extends KubernetesObject {
  readonly spec: Omit<Spoke['spec'], 'name'> & { readonly title: string };
}

interface Spoke extends KubernetesObject {
  readonly spec: {
    readonly name: string;
    readonly ports?: readonly { readonly name: string; readonly port: number }[];
    readonly limits?: Readonly<Record<string, number>>;
  };
}

interface Conversion {
  readonly toHub: (object: Spoke) => Hub;
  readonly fromHub: (object: Hub) => Spoke;
}

const faithful: Conversion = {
  toHub: ({ spec: { name, ...spec }, ...object }) => ({
    ...object,
    spec: { title: name, ...spec },
  }),
  fromHub: ({ spec: { title, ...spec }, ...object }) => ({
    ...object,
    spec: { name: title, ...spec },
  }),
};

function shopWith(conversion: Partial<Conversion>) {
  return defineResource({
    ...{ group: 'example.com', kind: 'Shop' },
    versions: [
      { name: 'v1', storage: true, schema: s.object({ spec: newSpec }), status: s.status() },
      { name: 'v1beta1', schema: s.object({ spec: oldSpec }), status: s.status() },
    ],
    conversion: { hub: 'v1', spokes: { v1beta1: { ...faithful, ...conversion } as never } },
  });
}

type Resource = Parameters<typeof assertRoundTrips>[0];

/** Returns the message of the assertion, without the code of the error, or 'no loss'. */
function result(resource: Resource, options: RoundTripOptions = {}): string {
  try {
    assertRoundTrips(resource, options);
    return 'no loss';
  } catch (error) {
    expect(isOperatorError(error, 'ConversionLoss'), String(error)).to.equal(true);
    return (error as Error).message;
  }
}

function objectsOf(message: string): readonly UnstructuredObject[] {
  const lines = message.split('\n').filter((line) => line.startsWith('  {'));
  return lines.map((line) => JSON.parse(line) as UnstructuredObject);
}

const first = (message: string): string => message.split('\n', 1)[0] ?? '';

/** The metadata of a random object without labels and annotations. */
const alwaysSet = [
  ...['name', 'namespace', 'uid', 'resourceVersion', 'generation', 'creationTimestamp'],
  'finalizers',
];

describe('assertRoundTrips, a check of the functions that convert a resource between its versions', () => {
  it('accepts a conversion that keeps every field', () => {
    for (const count of [1, 300]) expect(result(shopWith({}), { count })).to.equal('no loss');
  });

  it('reports a field of the hub version that a conversion loses, with a small example and the seed', () => {
    const fromHub: Conversion['fromHub'] = ({ spec: { title, ports = [] }, ...object }) => ({
      ...object,
      spec: { name: title, ports },
    });
    const keepsPorts: Conversion['toHub'] = ({ spec: { name, ports = [] }, ...object }) => ({
      ...object,
      spec: { title: name, ...(ports.length > 0 && { ports }) },
    });
    const message = result(shopWith({ fromHub, toHub: keepsPorts }), { seed: 3 });
    expect(message.replaceAll(/"metadata":\{[^}]*\}/g, '"metadata":{}').split('\n')).to.deep.equal([
      'Shop v1 -> v1beta1 -> v1: spec.ports is lost: it was []',
      '  {"apiVersion":"example.com/v1","kind":"Shop","metadata":{},"spec":{"title":"","ports":[]}}',
      '  {"apiVersion":"example.com/v1beta1","kind":"Shop","metadata":{},"spec":{"name":"","ports":[]}}',
      '  {"apiVersion":"example.com/v1","kind":"Shop","metadata":{},"spec":{"title":""}}',
      'object 1 of 200 with seed 3, shrunk; correct the conversion, or leave the field out with the option adjust if users of v1beta1 can do without it',
    ]);
  });

  it('reports a field of another version that the conversion to the hub version loses', () => {
    const fromHub: Conversion['fromHub'] = (hub) => {
      const { ports = [], ...spec } = faithful.fromHub(hub).spec;
      return { ...hub, spec: { ...spec, ports } };
    };
    const toHub: Conversion['toHub'] = (spoke) => {
      const { ports = [], ...spec } = faithful.toHub(spoke).spec;
      return { ...spoke, spec: { ...spec, ...(ports.length > 0 && { ports }) } };
    };
    const adjust = (object: UnstructuredObject): UnstructuredObject => {
      const spec = withoutMembers(object['spec'] as Hub['spec'], 'ports');
      return object.apiVersion.endsWith('/v1') ? { ...object, spec } : object;
    };
    const message = result(shopWith({ fromHub, toHub }), { adjust });
    expect(first(message)).to.equal(
      'Shop v1beta1 -> v1 -> v1beta1: spec.ports changes from undefined to []',
    );
  });

  it('reports that a conversion swaps two required fields with the same format', () => {
    const formats = ['date-time', 'date', 'duration', 'ipv4', 'ipv6', 'cidr', 'mac', 'uuid'];
    for (const format of [...formats, 'uri', 'email', 'hostname', 'byte'] as const) {
      const schema = s.object({
        spec: s.object({ from: s.string({ format }), to: s.string({ format }) }),
      });
      const swapped = (object: KubernetesObject): KubernetesObject => {
        const { from, to } = (object as UnstructuredObject)['spec'] as Record<string, unknown>;
        return { ...object, spec: { from: to, to: from } } as KubernetesObject;
      };
      const Visit = defineResource({
        ...{ group: 'example.com', kind: 'Visit' },
        versions: [
          { name: 'v1', storage: true, schema },
          { name: 'v1beta1', schema },
        ],
        conversion: {
          hub: 'v1',
          spokes: {
            v1beta1: { toHub: swapped, fromHub: (object: KubernetesObject) => object } as never,
          },
        },
      });
      expect(first(result(Visit)), format).to.match(/: spec\.(from|to) changes from /);
    }
  });

  it('shrinks an object that loses a field to the smallest object that still loses it', () => {
    const toHub: Conversion['toHub'] = (spoke) => {
      const { ports, ...spec } = faithful.toHub(spoke).spec;
      return { ...spoke, spec: { ...spec, ...(ports && { ports: ports.slice(0, 2) }) } };
    };
    const message = result(shopWith({ toHub }));
    const [object] = objectsOf(message);
    const { ports = [] } = (object as Hub | undefined)?.spec ?? {};
    expect(ports.map((each) => each.port)).to.deep.equal([1, 1, 1]);
    expect(ports.every(({ name }) => name.length <= 2)).to.equal(true);
    expect(Object.keys(object?.metadata ?? {})).to.have.members(alwaysSet);
  });

  it('shrinks every part of the reported object', () => {
    const part = s.object({ open: s.optional(s.boolean()), size: s.optional(s.integer()) });
    const schema = s.object({ spec: s.object({ door: part, window: part, roof: part }) });
    const Hall = defineResource({
      ...{ group: 'example.com', kind: 'Hall' },
      versions: [
        { name: 'v1', storage: true, schema },
        { name: 'v1beta1', schema },
      ],
      conversion: {
        hub: 'v1',
        spokes: {
          v1beta1: {
            fromHub: (object: KubernetesObject) => object,
            toHub: ({ metadata, ...object }: KubernetesObject) => ({
              ...object,
              metadata: withoutMembers(metadata, 'labels'),
            }),
          } as never,
        },
      },
    });
    for (const seed of [1, 2, 3]) {
      const [object] = objectsOf(result(Hall, { seed }));
      expect(object?.['spec']).to.deep.equal({ door: {}, window: {}, roof: {} });
    }
  });

  it('reports a field that is pruned because the schema of the other version lacks it', () => {
    const fromHub = ({ spec, ...object }: Hub): Spoke => ({
      ...object,
      spec: { ...spec, name: '' },
    });
    const message = result(shopWith({ fromHub }));
    expect(first(message)).to.match(
      /^Shop v1 -> v1beta1 -> v1: spec\.title changes from ".+" to ""$/u,
    );
    expect(objectsOf(message)[1]?.['spec']).to.deep.equal({ name: '' });
  });

  it('reports a label and an annotation that a conversion drops', () => {
    for (const field of ['labels', 'annotations'] as const) {
      const toHub: Conversion['toHub'] = (spoke) => {
        const metadata = withoutMembers(spoke.metadata, field);
        return { ...faithful.toHub(spoke), metadata };
      };
      expect(first(result(shopWith({ toHub })))).to.equal(
        `Shop v1 -> v1beta1 -> v1: metadata.${field} is lost: it was {"example.com/b":""}`,
      );
    }
  });

  it('accepts conversions that add or drop empty labels and annotations', () => {
    const toHub: Conversion['toHub'] = (spoke) => {
      const { labels = {}, annotations = {} } = spoke.metadata;
      return { ...faithful.toHub(spoke), metadata: { ...spoke.metadata, labels, annotations } };
    };
    const fromHub: Conversion['fromHub'] = (hub) => {
      const { labels = {}, annotations = {} } = hub.metadata;
      const empty = Object.entries({ labels, annotations })
        .filter(([, entries]) => Object.keys(entries).length === 0)
        .map(([name]) => name as 'labels' | 'annotations');
      return { ...faithful.fromHub(hub), metadata: withoutMembers(hub.metadata, ...empty) };
    };
    const emptied = ({ metadata, ...object }: UnstructuredObject): UnstructuredObject => ({
      ...object,
      metadata: { ...metadata, labels: {}, annotations: {} },
    });
    for (const adjust of [undefined, emptied]) {
      expect(result(shopWith({ toHub }), { adjust })).to.equal('no loss');
      expect(result(shopWith({ fromHub }), { adjust })).to.equal('no loss');
    }
  });

  it('accepts fields that a conversion keeps in an annotation', () => {
    const key = 'example.com/limits';
    const fromHub: Conversion['fromHub'] = (hub) => {
      const { limits, ...spec } = faithful.fromHub(hub).spec;
      const annotations = { ...hub.metadata.annotations, [key]: JSON.stringify({ limits }) };
      return { ...hub, metadata: { ...hub.metadata, annotations }, spec };
    };
    const toHub: Conversion['toHub'] = (spoke) => {
      const { [key]: kept = '{}', ...annotations } = spoke.metadata.annotations ?? {};
      const { metadata, ...hub } = faithful.toHub(spoke);
      const spec = { ...hub.spec, ...(JSON.parse(kept) as object) };
      const isGiven = Object.keys(annotations).length > 0;
      return { ...hub, metadata: { ...metadata, ...(isGiven && { annotations }) }, spec };
    };
    const adjust = (object: UnstructuredObject): UnstructuredObject => {
      const spec = withoutMembers(object['spec'] as Spoke['spec'], 'limits');
      return object.apiVersion.endsWith('beta1') ? { ...object, spec } : object;
    };
    expect(result(shopWith({ fromHub, toHub }), { adjust })).to.equal('no loss');
  });

  it('reports a default of the other version that is still there after the conversion back', () => {
    const Shop = defineResource({
      ...{ group: 'example.com', kind: 'Shop' },
      versions: [
        { name: 'v1', storage: true, schema: s.object({ size: s.optional(s.integer()) }) },
        { name: 'v2', schema: s.object({ size: s.defaulted(s.integer(), 3) }) },
      ],
    });
    expect(first(result(Shop))).to.equal('Shop v1 -> v2 -> v1: size changes from undefined to 3');
  });

  it('reports a conversion that throws, with the error as the cause', () => {
    const cause = new TypeError('no name');
    const fromHub = (): never => {
      throw cause;
    };
    const assertion = (): void => {
      assertRoundTrips(shopWith({ fromHub }));
    };
    const text =
      /^Shop v1 -> v1beta1 -> v1: the conversion to v1beta1 fails: .*its conversion of v1beta1 failed: no name/;
    expect(assertion).to.throw(text).with.nested.property('cause.cause', cause);
  });

  it('reports a conversion that throws only if a certain field is missing', () => {
    const fails: Record<string, Partial<Conversion>> = {
      'the conversion to v1beta1 fails: .*spec.*: Required value': {
        fromHub: (hub) => ({ ...faithful.fromHub(hub), title: hub.spec.title.trim() }) as Spoke,
      },
      'the conversion to v1 fails: .*spec.ports.*port: Required value': {
        toHub: (spoke) => {
          for (const { port: number } of spoke.spec.ports ?? []) number.toFixed();
          return faithful.toHub(spoke);
        },
      },
    };
    for (const [message, conversion] of Object.entries(fails)) {
      expect(first(result(shopWith(conversion)))).to.match(new RegExp(message));
    }
  });

  it('does not remove a field that the option adjust sets when it shrinks an object', () => {
    const fromHub: Conversion['fromHub'] = (hub) => {
      hub.spec.title.trim();
      return faithful.fromHub(hub);
    };
    const adjust = (object: UnstructuredObject): UnstructuredObject => {
      const { spec, ...rest } = object as Partial<Hub> & UnstructuredObject;
      const isHub = object.apiVersion.endsWith('/v1');
      return isHub ? { ...rest, spec: { ...spec, title: spec?.title ?? 'a' } } : object;
    };
    expect(result(shopWith({ fromHub }), { adjust })).to.equal('no loss');
  });

  it('shrinks to an object with the same error, and keeps the metadata that a server sets', () => {
    const fromHub: Conversion['fromHub'] = (hub) => {
      const { name, namespace, uid } = hub.metadata;
      if ([name, namespace, uid].includes(undefined)) throw new TypeError('no identity');
      const { length } = Array.from(hub.spec.title);
      if (length < 3) throw new TypeError('a short title');
      throw new TypeError('a long title');
    };
    // The first objects of these seeds have a short title and a long one.
    for (const [seed, error, title] of [
      [1, 'a short title', ''],
      [2, 'a long title', 'aaa'],
    ] as const) {
      const message = result(shopWith({ fromHub }), { seed });
      expect(first(message)).to.include(`its conversion of v1beta1 failed: ${error}`);
      expect(objectsOf(message)[0]).to.have.nested.property('spec.title', title);
      expect(objectsOf(message)[0]?.metadata).to.include({ name: 'sample', namespace: 'default' });
    }
  });

  it('stops shrinking an object with a changed field before the field would be lost instead', () => {
    const schema = s.object({ note: s.optional(s.string({ minLength: 1 })) });
    interface Note extends KubernetesObject {
      readonly note?: string;
    }
    const v2 = {
      toHub: ({ note = '', ...object }: Note) => ({
        ...object,
        ...(Array.from(note).length > 1 && { note: `${note}!` }),
      }),
      fromHub: (object: Note) => object,
    };
    const Memo = defineResource({
      ...{ group: 'example.com', kind: 'Memo' },
      versions: [
        { name: 'v1', storage: true, schema },
        { name: 'v2', schema },
      ],
      conversion: { hub: 'v1', spokes: { v2 } },
    });
    const changed = 'Memo v1 -> v2 -> v1: note changes from "aa" to "aa!"';
    expect(first(result(Memo))).to.equal(changed);
  });

  it('stops shrinking an object with a changed field before the field would be added instead', () => {
    const schema = s.object({ note: s.optional(s.string()) });
    interface Note extends KubernetesObject {
      readonly note?: string;
    }
    const v2 = {
      toHub: ({ note = '', ...object }: Note) => ({ ...object, note: `${note}!` }),
      fromHub: (object: Note) => object,
    };
    const Memo = defineResource({
      ...{ group: 'example.com', kind: 'Memo' },
      versions: [
        { name: 'v1', storage: true, schema },
        { name: 'v2', schema },
      ],
      conversion: { hub: 'v1', spokes: { v2 } },
    });
    const found = [1, 2, 3, 4, 5, 6].map((seed) => first(result(Memo, { seed, count: 1 })));
    expect([...new Set(found)].toSorted()).to.deep.equal([
      'Memo v1 -> v2 -> v1: note changes from "" to "!"',
      'Memo v1 -> v2 -> v1: note changes from undefined to "!"',
    ]);
  });

  it('shrinks to an object that the option adjust does not change', () => {
    const toHub: Conversion['toHub'] = (spoke) => ({
      ...spoke,
      spec: withoutMembers(faithful.toHub(spoke).spec, 'ports'),
    });
    const adjust = (object: UnstructuredObject): UnstructuredObject => {
      const spec = object['spec'] as { ports?: Spoke['spec']['ports'] };
      if (spec.ports?.length === 0) delete spec.ports;
      return { ...object, legacy: undefined };
    };
    expect(first(result(shopWith({ toHub })))).to.match(/spec\.ports is lost: it was \[\]$/);
    expect(first(result(shopWith({ toHub }), { adjust }))).to.match(
      /spec\.ports is lost: it was \[\{"name":"","port":1\}\]$/,
    );
  });

  it('reports a conversion that changes name, namespace or UID of the object', () => {
    const toHub: Conversion['toHub'] = (spoke) => {
      const { name = '' } = spoke.metadata;
      return { ...faithful.toHub(spoke), metadata: { name } };
    };
    expect(first(result(shopWith({ toHub })))).to.include('the conversion to v1 fails: ');
  });

  it('finds the same object again with the same seed', () => {
    const fromHub: Conversion['fromHub'] = (hub) => {
      const { limits, ...spec } = faithful.fromHub(hub).spec;
      return { ...hub, spec: { ...spec, ...(limits && { limits: { ...limits, a0: 1 } }) } };
    };
    const Shop = shopWith({ fromHub });
    const [one, again, other] = [1, 1, 2].map((seed) => result(Shop, { seed }));
    expect(one).to.equal(again);
    expect(one).not.to.equal(other);
  });

  it('reports a field that the other version loses, even if an update through that version restores it in the hub', async () => {
    const fromHub: Conversion['fromHub'] = (hub) => {
      return { ...hub, spec: withoutMembers(faithful.fromHub(hub).spec, 'limits') };
    };
    const Shop = shopWith({ fromHub });
    const [before, between] = objectsOf(result(Shop));
    const cluster = await EmbeddedCluster.start({ crds: [Shop] });
    const client = cluster.client();
    const served = await serveLocalWebhooks(client, [conversionWebhook(Shop)]);
    try {
      const key = { name: 'a', namespace: 'default' };
      await client.create({ ...before, metadata: key } as UnstructuredObject);
      const old = await client.get(versionOfResource<Spoke>(Shop, 'v1beta1'), key);
      expect(old.spec).to.deep.equal(between?.['spec']);
      await client.update(old);
      expect((await client.get(Shop, key)).spec).to.deep.equal(before?.['spec']);
    } finally {
      await served.stop();
      await cluster.stop();
    }
  });

  describe('of a resource with CEL rules', () => {
    const rule = 'self.a + self.b + self.c == 1000';
    const schema = s.object(
      { a: s.integer(), b: s.integer(), c: s.integer() },
      { rules: [{ rule, message: 'must add up' }] },
    );
    const Sum = defineResource({
      ...{ group: 'example.com', kind: 'Sum' },
      versions: [
        { name: 'v1', storage: true, schema: s.object({ spec: schema }) },
        { name: 'v2', schema: s.object({ spec: schema }) },
      ],
    });

    it('names the rule that random objects do not satisfy', () => {
      const found = 'only 0 of 500 random objects of v1 are valid, want 5 (most often spec: ';
      expect(() => {
        assertRoundTrips(Sum, { count: 5 });
      })
        .to.throw(found)
        .with.property('code', 'InvalidOption');
    });

    it('checks random objects that the option adjust makes valid', () => {
      const adjust = (object: UnstructuredObject): UnstructuredObject => {
        const spec = object['spec'] as { readonly a: number; readonly b: number };
        return { ...object, spec: { ...spec, c: 1_000 - spec.a - spec.b } };
      };
      expect(result(Sum, { adjust })).to.equal('no loss');
    });
  });

  for (const [options, message] of [
    [{ count: 0 }, 'count: want an integer from 1, got 0'],
    [{ seed: 0.5 }, 'seed: want an integer, got 0.5'],
    [{ runs: 5 }, 'runs'],
  ] as const) {
    it(`refuses the options ${JSON.stringify(options)}`, () => {
      const assertion = (): void => {
        assertRoundTrips(shopWith({}), options as RoundTripOptions);
      };
      expect(assertion).to.throw(message).with.property('code', 'InvalidOption');
    });
  }

  it('refuses a resource with a single version', () => {
    const schema = s.object({ spec: newSpec });
    const One = defineResource({
      ...{ group: 'example.com', kind: 'One', versions: [{ name: 'v1', schema }] },
    });
    expect(() => {
      assertRoundTrips(One);
    })
      .to.throw('want at least two versions, got only v1')
      .with.property('code', 'InvalidOption');
  });
});
