import { expect } from 'chai';
import { checkUpgrade } from '../../../lib/cli/upgrade/check-upgrade.js';
import type { UpgradeReport } from '../../../lib/cli/upgrade/upgrade-report.js';
import { controllerFor, done } from '../../../lib/controller/index.js';
import { defineResource, s } from '../../../lib/crd/index.js';
import { conversionWebhook } from '../../../lib/manager/index.js';
import type { OperatorDefinition, Webhook } from '../../../lib/manager/index.js';
import type { UnstructuredObject } from '../../../lib/object/index.js';
import { silentLogger } from '../../../lib/system/index.js';

type Fields = Parameters<typeof s.object>[0];
type Definition = Parameters<typeof defineResource>[0];
type Version = Definition['versions'][number];

const text = s.optional(s.string());

function version(name: string, spec: Fields, more: Partial<Version> = {}): Version {
  return { name, schema: s.object({ spec: s.object(spec) }), ...more };
}

/** Defines the kind Shop; conversions are served by a webhook. */
function operatorOf(
  versions: readonly Version[],
  conversion?: object,
  setup: OperatorDefinition['setup'] = () => undefined,
): OperatorDefinition {
  const definition = { group: 'example.com', kind: 'Shop', versions, conversion } as Definition;
  const Shop = defineResource(definition);
  const webhooks: Webhook[] = typeof conversion === 'object' ? [conversionWebhook(Shop)] : [];
  return { name: 'shops', resources: [Shop], webhooks, setup };
}

const shop = (spec: object, of = 'v1'): UnstructuredObject => ({
  ...{ apiVersion: `example.com/${of}`, kind: 'Shop', metadata: { name: 'a' }, spec },
});

function check(
  from: OperatorDefinition,
  to: OperatorDefinition,
  ...resources: readonly UnstructuredObject[]
): Promise<UpgradeReport> {
  const { signal } = new AbortController();
  return checkUpgrade({ from, to, resources, namespace: 'default', logger: silentLogger, signal });
}

/** The type, the object and the rule or the fields of each finding. */
const brief = ({ findings }: UpgradeReport): readonly string[] =>
  findings.map(({ type, ref: { name }, message, changes }) =>
    type === 'breaking'
      ? `breaking ${name} ${message.split(':', 1)[0]}`
      : [type, name, ...changes.map(({ path }) => path)].join(' '),
  );

const notes = ({ changes }: UpgradeReport): readonly string[] =>
  changes.flatMap(({ note = '' }) => (note === '' ? [] : [note.split(':', 1)[0] ?? '']));

const definition = 'shops.example.com';

describe('changed definitions in upgrade-check', () => {
  const modes = { mode: s.optional(s.string({ enum: ['Fast', 'Safe'] })), owner: text };
  const one = operatorOf([version('v1', modes)]);

  it('are compared as in the command breaking: errors become findings, and warnings become notes', async () => {
    const mode = s.optional(s.string({ enum: ['Safe', 'Slow'] }));
    const report = await check(one, operatorOf([version('v1', { mode })]), shop({ mode: 'Safe' }));
    expect(brief(report)).to.deep.equal([
      `breaking ${definition} enum-narrowed v1 spec.mode`,
      `breaking ${definition} field-removed v1 spec.owner`,
    ]);
    expect(report.findings[0]?.message).to.include('"Fast" is no longer valid');
    expect(notes(report)).to.deep.equal(['enum-widened v1 spec.mode']);
  });

  it('are not reported for removed fields and defaults that a stored object already shows', async () => {
    const mode = s.optional(s.string({ enum: ['Safe'] }));
    const to = operatorOf([version('v1', { mode, tier: s.defaulted(s.string(), 'gold') })]);
    const report = await check(one, to, shop({ mode: 'Fast', owner: 'ann' }));
    expect(brief(report)).to.deep.equal([
      'dropped a spec.owner',
      'schema a spec.mode',
      `breaking ${definition} enum-narrowed v1 spec.mode`,
    ]);
    expect(notes(report)).to.deep.equal(['by defaults']);
  });

  it('are compared only with stored objects of the same version', async () => {
    const versions = (v1: Fields, v2: Fields): readonly Version[] => [
      version('v1', v1, { storage: true }),
      version('v2', v2),
    ];
    const [wide, narrow] = [['Fast', 'Safe'], ['Safe']].map((values) =>
      s.optional(s.string({ enum: values })),
    ) as [Fields[string], Fields[string]];
    const mode = s.optional(s.string({ enum: ['Fast', 'Safe'], pattern: '^S' }));
    const from = operatorOf(versions({ mode: wide, owner: text }, { mode: wide, owner: text }));
    const stored = shop({ mode: 'Fast', owner: 'ann' });
    const other = operatorOf(versions({ mode: narrow, owner: text }, { mode, owner: text }));
    expect(brief(await check(from, other, stored))).to.deep.equal([
      'schema a spec.mode',
      `breaking ${definition} enum-narrowed v1 spec.mode`,
      `breaking ${definition} pattern-changed v2 spec.mode`,
    ]);
    const both = operatorOf(versions({ mode: narrow }, { mode: narrow }));
    expect(brief(await check(from, both, stored))).to.deep.equal([
      'dropped a spec.owner',
      'schema a spec.mode',
      `breaking ${definition} enum-narrowed v1, v2 spec.mode`,
      `breaking ${definition} field-removed v2 spec.owner`,
    ]);
  });

  it('are compared with the fields of stored objects within lists and maps', async () => {
    const part = (more: Fields) => s.object({ name: s.string(), ...more });
    const spec = (more: Fields): Fields => ({
      parts: s.array(part(more)),
      stores: s.map(part(more)),
      plain: s.optional(s.array(s.object(more))),
    });
    const [from, to] = [{ color: text }, {}].map((more) => operatorOf([version('v1', spec(more))]));
    const given = { name: 'x', color: 'red' };
    const stored = shop({ parts: [given], stores: { 'a.b': given }, plain: [] });
    expect(brief(await check(from ?? one, to ?? one, stored))).to.deep.equal([
      'dropped a spec.parts[name=x].color spec.stores["a.b"].color',
      `breaking ${definition} field-removed v1 spec.plain[*].color`,
    ]);
  });

  it('are reported with all changes that make a stored value invalid', async () => {
    const size = (minimum: number) => s.integer({ minimum });
    const from = operatorOf([version('v1', { size: s.optional(size(0)) })]);
    const to = operatorOf([version('v1', { size: size(2) })]);
    expect(brief(await check(from, to, shop({ size: 1 })))).to.deep.equal([
      'schema a spec.size',
      `breaking ${definition} bounds-tightened v1 spec.size`,
      `breaking ${definition} required-added v1 spec.size`,
    ]);
  });

  it('are reported once for a removed kind, with or without stored objects', async () => {
    const to = { ...one, resources: [], webhooks: [] };
    expect(brief(await check(one, to))).to.deep.equal([
      `breaking ${definition} definition-removed`,
    ]);
    expect(brief(await check(one, to, shop({})))).to.deep.equal(['version a']);
    const Stall = defineResource({
      ...{ group: 'example.com', kind: 'Stall', versions: [version('v1', {})] },
    });
    const others = { ...to, resources: [Stall] };
    expect(brief(await check(one, others, shop({})))).to.deep.equal(['version a']);
  });

  it('are reported for each of two kinds that no longer serves a version', async () => {
    const kindIn = (kind: string, ...versions: readonly Version[]) =>
      defineResource({ group: 'example.com', kind, versions, conversion: 'prune' });
    const [v1, v2] = [version('v1', { owner: text }), version('v2', { owner: text })];
    const stored = { ...v1, storage: true };
    const from = { ...one, resources: [kindIn('Shop', stored, v2), kindIn('Stall', stored, v2)] };
    const next = { ...v2, storage: true };
    const to = {
      ...one,
      resources: [kindIn('Shop', next), kindIn('Stall', { ...v1, served: false }, next)],
    };
    const stall = { ...shop({}), kind: 'Stall', metadata: { name: 'b' } };
    const found = brief(await check(from, to, shop({}), stall));
    expect(found).to.include(`version ${definition} spec.versions`).and.include('version b');
    expect(found).to.not.include('version a');
  });

  for (const [what, path, change] of [
    ['scope', 'spec.scope', { scope: 'Cluster' }],
    ['kind', 'spec.names.kind', { kind: 'Store', plural: 'shops' }],
  ] as const) {
    it(`are reported once if the server refuses another ${what}`, async () => {
      const Shop = defineResource({
        ...{ group: 'example.com', kind: 'Shop', versions: [version('v1', modes)] },
        ...change,
      });
      const report = await check(one, { ...one, resources: [Shop] });
      expect(brief(report).filter((line) => line.includes(definition))).to.deep.equal([
        `refused ${definition}`,
        ...(what === 'kind' ? [`breaking ${definition} names-changed spec.names.listKind`] : []),
      ]);
      expect(report.findings[0]?.message)
        .to.include('the server refuses the new definition: ')
        .and.include(path);
    });
  }

  describe('with another storage version', () => {
    const hub = { title: s.string(), owner: text };
    const spoke = { name: s.string(), owner: text };
    const versionsIn = (storage: 'v1' | 'v2', served = true): readonly Version[] => [
      version('v1', spoke, { storage: storage === 'v1', served }),
      version('v2', hub, { storage: storage === 'v2' }),
    ];

    interface Converted {
      readonly spec: Readonly<Record<string, string>>;
    }
    const convert = {
      toHub: ({ spec: { name, ...spec }, ...object }: Converted) => ({
        ...object,
        spec: { title: name, ...spec },
      }),
      fromHub: ({ spec: { title, ...spec }, ...object }: Converted) => ({
        ...object,
        spec: { name: title, ...spec },
      }),
    };
    const conversion = (v1: object = convert) => ({ hub: 'v2', spokes: { v1 } });
    const from = operatorOf(versionsIn('v1'), conversion());
    const stored = shop({ name: 'toys', owner: 'ann' });

    it('are reported only as a harmless note if the conversion loses nothing', async () => {
      const report = await check(from, operatorOf(versionsIn('v2'), conversion()), stored);
      expect(brief(report)).to.deep.equal([]);
      expect(notes(report)).to.deep.equal(['storage-changed v1']);
    });

    it('are reported with the fields that the new version of a stored object lacks or changes', async () => {
      const toHub = ({ spec, ...object }: Converted) => ({
        ...object,
        spec: { title: `${spec['name']}!` },
      });
      const to = operatorOf(versionsIn('v2'), conversion({ ...convert, toHub }));
      const report = await check(from, to, stored);
      expect(brief(report)).to.deep.equal(['dropped a spec.name spec.owner']);
      const [found] = report.findings;
      expect(found?.changes[0]).to.include({ from: 'toys', to: 'toys!' });
      expect(found?.message).to.equal(
        'spec.name, spec.owner is lost in the conversion to v2: ' +
          'operators that use v2 do not see it, and it is lost once v1 is removed',
      );
    });

    it('are reported with one failure for each object whose conversion fails', async () => {
      const toHub = (): never => {
        throw new Error('no name');
      };
      const to = operatorOf(
        versionsIn('v2'),
        conversion({ ...convert, toHub }),
        (manager) => void manager.add(watching(to, () => undefined)),
      );
      const report = await check(from, to, stored);
      expect(brief(report)).to.deep.equal(['failed a']);
      expect(report.findings[0]?.message).to.include("can't store it in v2");
      expect(report.findings[0]?.message).to.include('no name');
    });

    it('are reported with fields lost without a conversion, for a stored object if one has the field', async () => {
      const versions = (storage: 'v1' | 'v2') => [
        version('v1', { name: s.string(), owner: text }, { storage: storage === 'v1' }),
        version('v2', { name: s.string() }, { storage: storage === 'v2' }),
      ];
      const [old, next] = (['v1', 'v2'] as const).map((storage) =>
        operatorOf(versions(storage), 'prune' as unknown as object),
      ) as [OperatorDefinition, OperatorDefinition];
      expect(brief(await check(old, next, stored))).to.deep.equal(['dropped a spec.owner']);
      expect(brief(await check(old, next, shop({ name: 'toys' })))).to.deep.equal([
        `breaking ${definition} field-removed v1 spec.owner`,
      ]);
    });

    it('are reported if a stored object or a file uses the old version, which is no longer served', async () => {
      const to = operatorOf(versionsIn('v2', false), conversion());
      expect(brief(await check(from, to, stored))).to.deep.equal(['version a']);
      expect(brief(await check(from, to, shop({ title: 'toys' }, 'v2')))).to.deep.equal([
        `breaking ${definition} version-unserved v1`,
      ]);
    });

    it('convert the objects that the new version of the operator reads', async () => {
      const seen: unknown[] = [];
      const to = operatorOf(
        versionsIn('v2'),
        conversion(),
        (manager) => void manager.add(watching(to, (object) => seen.push(object['spec']))),
      );
      await check(from, to, stored);
      expect(seen).to.deep.equal([{ title: 'toys', owner: 'ann' }]);
    });
  });
});

/** Returns a controller that reads each shop in the storage version. */
function watching(
  { resources: [type] = [] }: OperatorDefinition,
  see: (object: UnstructuredObject) => unknown,
) {
  if (type === undefined) throw new Error('the operator has no resource');
  return controllerFor(type).complete(async ({ key, client }) => {
    see((await client.get(type, key)) as unknown as UnstructuredObject);
    return done();
  });
}
