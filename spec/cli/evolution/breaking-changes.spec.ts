import { expect } from 'chai';
import fc from 'fast-check';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { breakingChanges } from '../../../lib/cli/evolution/breaking-changes.js';
import { breakingRules } from '../../../lib/cli/evolution/breaking-rules.js';
import { ensureCrd } from '../../../lib/client/index.js';
import { randomValue } from '../../../lib/crd/internal.js';
import { deepEqual, isApiError, withoutMembers } from '../../../lib/object/index.js';
import type { CustomResourceDefinition, Schema } from '../../../lib/object/index.js';
import { seededRandom } from '../../../lib/system/index.js';
import { crdWith, harmlessCases, schemaCases, thing, thingWith } from './schema-cases.js';

function rulesBetween(before: CustomResourceDefinition, after: CustomResourceDefinition) {
  return breakingChanges([before], [after]).map(({ rule }) => rule);
}

describe('breakingChanges', () => {
  for (const { rules, before, after, stored, effect } of schemaCases) {
    const title = `${JSON.stringify(before)} to ${JSON.stringify(after)}`;
    it(`reports ${rules.join()}: ${title}`, async () => {
      expect(rulesBetween(crdWith(before), crdWith(after))).to.deep.equal(rules);
      expect(await effectOf({ before, after, stored })).to.equal(effect);
    });
  }

  for (const [what, before, after] of harmlessCases) {
    it(`reports nothing for ${what}`, () => {
      expect(rulesBetween(crdWith(before), crdWith(after))).to.deep.equal([]);
    });
  }

  it('reports the removal of a field whose name every JavaScript object has, such as constructor', () => {
    const text: Schema = { type: 'string' };
    const before: Schema = { type: 'object', properties: { constructor: text } };
    const after: Schema = { type: 'object', properties: {} };
    expect(rulesBetween(crdWith(before), crdWith(after))).to.deep.equal(['field-removed']);
  });

  it('reports nothing if only one of the two schemas declares apiVersion, kind and metadata', () => {
    const text: Schema = { type: 'string' };
    const standard = { apiVersion: text, kind: text, metadata: { type: 'object' } as const };
    const crd = crdWith(text);
    const named = structuredClone(crd);
    const { openAPIV3Schema: schema = {} } = named.spec.versions[0]?.schema ?? {};
    Object.assign(schema.properties ?? {}, standard);
    schema.required = [...(schema.required ?? []), ...Object.keys(standard)];
    expect(rulesBetween(named, crd)).to.deep.equal([]);
    expect(rulesBetween(crd, named)).to.deep.equal([]);
  });

  it('reports a removed storage version if the definition in a file has an empty status, or nulls in it', () => {
    const before = crdWith({ type: 'string' });
    const [version] = before.spec.versions;
    const old = { ...version!, name: 'v0', served: false };
    const versions = [old, { ...version!, storage: false }];
    for (const empty of [[], null]) {
      const status = { conditions: empty, storedVersions: empty } as never;
      const withStatus = { ...before, spec: { ...before.spec, versions }, status };
      expect(rulesBetween(withStatus, before)).to.include('version-removed');
    }
  });

  it('reports no difference between a definition and the same definition as a server returns it', async () => {
    const unused: Schema = {
      ...{ type: 'string', format: '', pattern: '', minLength: 0, nullable: false },
      ...{ enum: [], anyOf: [], allOf: [], oneOf: [], 'x-kubernetes-validations': [] },
    };
    const properties: Record<string, Schema> = {
      unused,
      nothing: { type: 'integer', exclusiveMinimum: false, default: null },
      empty: { type: 'string', default: '' },
      list: { type: 'array', items: unused, default: [], uniqueItems: false },
    };
    const { spec, ...rest } = crdWith({ type: 'object', required: [], properties });
    const names = withoutMembers(spec.names, 'singular', 'listKind');
    const crd = { ...rest, spec: { ...spec, names: { ...names, shortNames: [], categories: [] } } };
    const cluster = await EmbeddedCluster.start();
    try {
      const live = await cluster.client().create<CustomResourceDefinition>(crd);
      expect(live.spec.names.singular).to.equal('thing');
      expect(breakingChanges([live], [crd])).to.deep.equal([]);
      expect(breakingChanges([crd], [live])).to.deep.equal([]);
    } finally {
      await cluster.stop();
    }
  });

  it('reports a changed singular name, whether it was set or is the default', () => {
    const crd = crdWith({ type: 'string' });
    const named = (singular: string): CustomResourceDefinition => ({
      ...crd,
      spec: { ...crd.spec, names: { ...crd.spec.names, singular } },
    });
    const names = withoutMembers(crd.spec.names, 'singular');
    const unnamed = { ...crd, spec: { ...crd.spec, names } };
    expect(rulesBetween(named('item'), unnamed)).to.deep.equal(['alias-removed']);
    expect(rulesBetween(unnamed, named('item'))).to.deep.equal(['alias-removed']);
  });

  const text: Schema = { type: 'string' };
  for (const [before, after, says] of [
    [text, { ...text, default: 'a' }, 'the default "a" is new: '],
    [{ ...text, default: 'a' }, text, 'the default "a" is gone: '],
    [{ ...text, default: 'a' }, { ...text, default: 'b' }, 'the default changes from "a" to "b": '],
    [text, { ...text, maxLength: 3 }, 'maxLength 3 replaces no maxLength: '],
    [{ ...text, maxLength: 4 }, { ...text, maxLength: 3 }, 'maxLength 3 replaces the 4 of max'],
    [text, { ...text, allOf: [{ maxLength: 3 }] }, 'allOf is new or changed: '],
    [text, { ...text, anyOf: [{ maxLength: 3 }] }, 'anyOf is new or changed: '],
    [text, { ...text, oneOf: [{ maxLength: 3 }] }, 'oneOf is new or changed: '],
    [text, { ...text, not: { maxLength: 3 } }, 'not is new or changed: '],
  ] as const) {
    it(`reports that ${says.replace(/: $/, '')}`, () => {
      const [found] = breakingChanges([crdWith(before)], [crdWith(after)]);
      expect(found?.message.slice(0, says.length)).to.equal(says);
    });
  }

  it('reports the path of a changed field within lists and maps', () => {
    const nested = (field: Schema): Schema => ({
      type: 'array',
      items: {
        type: 'object',
        properties: { by: { type: 'object', additionalProperties: field } },
      },
    });
    const [found] = breakingChanges(
      [crdWith(nested({ type: 'string' }))],
      [crdWith(nested({ type: 'string', maxLength: 3 }))],
    );
    expect(found).to.include({ definition: 'things.example.com', path: 'spec.field[*].by.*' });
    expect(found?.versions).to.deep.equal(['v1']);
  });

  it('reports an error for every change that makes a stored object invalid or drops one of its fields', () => {
    let harmless = 0;
    const property = fc.property(fc.nat(), (seed) => {
      const random = seededRandom(seed);
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random.next() * list.length)] as T;
      const { before } = pick(schemaCases);
      const { after } = pick(schemaCases.filter((each) => each.before.type === before.type));
      const crds = [[crdWith(before)], [crdWith(after)]] as const;
      if (breakingChanges(...crds).some(({ level }) => level === 'error')) return;
      harmless++;
      const [Old, New] = [thingWith(before), thingWith(after)];
      for (let count = 0; count < 5; count++) {
        const object = thing(randomValue(before, random));
        if (Old.validate(object).length > 0) continue;
        const stored = Old.withDefaults(Old.prune(object).value);
        expect(New.validate(stored), JSON.stringify([before, after, object])).to.deep.equal([]);
        expect(New.prune(stored).value).to.deep.equal(stored);
      }
    });
    fc.assert(property, { numRuns: 500 });
    expect(harmless).to.be.greaterThan(20);
  });

  describe('for the parts of a definition beside its schemas', () => {
    const base = crdWith({ type: 'string' });
    const [v1] = base.spec.versions as [CustomResourceDefinition['spec']['versions'][0]];
    const spec = (rest: Partial<CustomResourceDefinition['spec']>): CustomResourceDefinition => ({
      ...base,
      spec: { ...base.spec, ...rest },
    });
    const version = (rest: Partial<typeof v1>) => ({ ...v1, ...rest });
    const names = (rest: Partial<typeof base.spec.names>) =>
      spec({ names: { ...base.spec.names, ...rest } });
    const versions = (...list: (typeof v1)[]) => spec({ versions: list });
    const v2 = version({ name: 'v2' });
    const other = version({
      name: 'v2',
      schema: { openAPIV3Schema: { type: 'object', properties: {} } },
    });
    const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' };
    const webhook = { conversion: { strategy: 'Webhook' } };
    const column = { name: 'F', type: 'string', jsonPath: '.spec.field' };

    const changes: readonly (readonly [
      rules: readonly string[],
      before: CustomResourceDefinition,
      after: CustomResourceDefinition,
    ])[] = [
      [['scope-changed'], base, spec({ scope: 'Cluster' })],
      [['names-changed', 'names-changed'], base, names({ kind: 'Item', listKind: 'ItemList' })],
      [['alias-removed'], names({ shortNames: ['th', 't'] }), names({ shortNames: ['th'] })],
      [[], base, names({ shortNames: ['th'], categories: ['all'] })],
      [['version-removed', 'version-unserved', 'storage-changed'], base, versions(v2)],
      [
        ['version-unserved'],
        versions(v1, { ...v2, storage: false }),
        versions(v1, { ...v2, storage: false, served: false }),
      ],
      [
        ['version-removed'],
        { ...versions(v1), status: { storedVersions: ['v1alpha1', 'v1'] } },
        base,
      ],
      [
        ['storage-changed'],
        versions(v1, { ...v2, storage: false }),
        versions({ ...v1, storage: false }, v2),
      ],
      [
        ['storage-changed', 'field-removed'],
        versions(v1, { ...other, storage: false }),
        versions({ ...v1, storage: false }, other),
      ],
      [
        ['storage-changed'],
        { ...versions(v1, { ...other, storage: false }) },
        { ...spec({ ...webhook, versions: [{ ...v1, storage: false }, other] }) },
      ],
      [
        ['conversion-changed'],
        spec({ ...webhook, versions: [v1, { ...v2, storage: false }] }),
        versions(v1, { ...v2, storage: false }),
      ],
      [
        [],
        spec({ ...webhook, versions: [v1, { ...v2, storage: false, served: false }] }),
        versions(v1, { ...v2, storage: false, served: false }),
      ],
      [['subresource-changed'], versions(version({ subresources: { status: {} } })), base],
      [['subresource-changed'], base, versions(version({ subresources: { status: {} } }))],
      [['subresource-changed'], versions(version({ subresources: { scale } })), base],
      [[], base, versions(version({ subresources: { scale } }))],
      [['selectable-field-removed'], versions(version({ selectableFields: [column] })), base],
      [['column-removed'], versions(version({ additionalPrinterColumns: [column] })), base],
      [[], base, versions(v1, { ...v2, storage: false })],
    ];
    for (const [index, [rules, before, after]] of changes.entries()) {
      it(`reports ${rules.length === 0 ? 'nothing' : rules.join(', ')} for the change ${index}`, () => {
        expect(rulesBetween(before, after)).to.deep.equal(rules);
      });
    }

    it('reports a deleted definition, but not a new one', () => {
      expect(breakingChanges([base], []).map(({ rule }) => rule)).to.deep.equal([
        'definition-removed',
      ]);
      expect(breakingChanges([], [base])).to.deep.equal([]);
    });

    it('has a test for each rule', () => {
      const used = [
        ...schemaCases.flatMap(({ rules }) => rules),
        ...changes.flatMap(([rules]) => rules),
      ];
      const missing = Object.keys(breakingRules).filter((rule) => !used.includes(rule));
      expect(missing).to.deep.equal(['definition-removed']);
    });
  });
});

/** Stores an object, changes the definition, and returns the effect on the object. */
async function effectOf({
  before,
  after,
  stored,
}: {
  before: Schema;
  after: Schema;
  stored: unknown;
}) {
  const cluster = await EmbeddedCluster.start({ crds: [crdWith(before)] });
  try {
    const client = cluster.client();
    const old = await client.create(thing(stored));
    await ensureCrd(client, crdWith(after), { clock: cluster.clock });
    const read = await client.get(
      { apiVersion: 'example.com/v1', kind: 'Thing' },
      old.metadata as { name: string },
    );
    const spec = (object: object): unknown => (object as { spec?: unknown }).spec;
    await client.create(thing(stored, 'b'), { dryRun: true });
    return deepEqual(spec(read), spec(old)) ? 'none' : 'changed';
  } catch (error) {
    if (isApiError(error) && error.status === 422) return 'refused';
    throw error;
  } finally {
    await cluster.stop();
  }
}
