import { expect } from 'chai';
import type { BuilderTarget, NewTarget } from '../../../builder/suite/target.js';
import {
  conversionClientConfig,
  conversionWebhook,
} from '../../../../lib/manager/webhooks/index.js';
import { defineResource, s } from '../../../../lib/crd/index.js';
import { isConditionTrue } from '../../../../lib/object/conditions.js';
import { CustomResourceDefinition } from '../../../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../../../lib/object/kubernetes-object.js';
import { ownCertificate, serving } from './serving.js';

/** Defines what clients of one version may do without harm to the fields of another. */
export function describeKeptFields(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let namespace: string;
  let group: string;
  let close: () => Promise<unknown>;

  before(async () => {
    target = await newTarget();
    namespace = await target.namespace();
    group = `${namespace}.example.com`;
    const own = await ownCertificate();
    const shops = shopsOf(group);
    const server = await serving([conversionWebhook(shops)], own);
    const address = { url: server.url };
    const crd = shops.crdWithWebhook(
      conversionClientConfig({ address, authorities: own.authority }),
    );
    const { name } = crd.metadata;
    await target.admin.create<CustomResourceDefinition>(crd);
    close = async () => {
      await target.admin.delete(CustomResourceDefinition, { name });
      await server.stop();
      await target.close();
    };
    await target.eventually(async () => {
      const { status } = await target.admin.get(CustomResourceDefinition, { name });
      expect(isConditionTrue(status?.conditions, 'Established')).to.equal(true);
    });
    await target.eventually(() => target.admin.list(kindOf('v1'), { namespace }));
  });
  after(() => close());

  const kindOf = (version: string) => ({ apiVersion: `${group}/${version}`, kind: 'Shop' });
  const create = (version: string, name: string, spec: object): Promise<unknown> =>
    target.admin.create({ ...kindOf(version), metadata: { namespace, name }, spec });
  const read = (version: string, name: string): Promise<UnstructuredObject> =>
    target.admin.get<UnstructuredObject>(kindOf(version), { namespace, name });

  it('fields that a version lacks are kept by an update through that version', async () => {
    await create('v1', 'update', { title: 'a', mode: 'turbo', color: 'red' });
    const old = await read('v1alpha1', 'update');
    expect(old['spec']).to.deep.equal({ name: 'a', fast: true });
    await target.admin.update({ ...old, spec: { name: 'b', fast: true } });
    const { spec, metadata } = await read('v1', 'update');
    expect(spec).to.deep.equal({ title: 'b', mode: 'turbo', color: 'red' });
    expect(metadata.annotations).to.equal(undefined);
  });

  it('fields that a version lacks are kept by patches and applies through that version', async () => {
    const key = { namespace, name: 'patch' };
    await create('v1', key.name, { title: 'a', mode: 'turbo', color: 'red' });
    const merge = { spec: { name: 'b' } };
    await target.admin.patch(kindOf('v1alpha1'), key, { type: 'merge', body: merge });
    const applied = { ...kindOf('v1alpha1'), metadata: key, spec: { name: 'c' } };
    await target.admin.apply(applied, { fieldManager: 'kubectl', force: true });
    expect((await read('v1', key.name))['spec']).to.deep.equal({
      ...{ title: 'c', mode: 'turbo', color: 'red' },
    });
  });

  it('fields that a version lacks are dropped if a client changes the fields that were converted from them', async () => {
    await create('v1', 'changed', { title: 'a', mode: 'turbo', color: 'red' });
    const old = await read('v1alpha1', 'changed');
    await target.admin.update({ ...old, spec: { name: 'a', fast: false } });
    expect((await read('v1', 'changed'))['spec']).to.deep.equal({
      ...{ title: 'a', mode: 'slow', color: 'red' },
    });
  });

  it('fields that a version lacks are removed when their manager applies without them, although another manager wrote through the version that lacks them', async () => {
    const key = { namespace, name: 'removed' };
    const apply = (spec: object): Promise<unknown> =>
      target.admin.apply({ ...kindOf('v1'), metadata: key, spec }, { fieldManager: 'team' });
    await apply({ title: 'a', mode: 'turbo', color: 'red' });
    const marks = { metadata: { annotations: { touched: 'yes' } } };
    await target.admin.patch(kindOf('v1alpha1'), key, { type: 'merge', body: marks });
    await apply({ title: 'a', mode: 'turbo' });
    expect((await read('v1', key.name))['spec']).to.deep.equal({ title: 'a', mode: 'turbo' });
  });

  const apply = (version: string, name: string, spec: object): Promise<unknown> => {
    const object = { ...kindOf(version), metadata: { namespace, name }, spec };
    const fieldManager = version === 'v1' ? 'new' : 'old';
    return target.admin.apply(object, { fieldManager });
  };
  const own = { title: 'a', mode: 'turbo' };

  it('fields that a version lacks do not bring back list items that another manager has stopped applying through another version', async () => {
    const name = 'dropped-by-old';
    await apply('v1', name, own);
    const old = { name: 'a', fast: true };
    await apply('v1alpha1', name, { ...old, parts: [{ name: 'x' }, { name: 'y' }] });
    const parts = [{ name: 'x', color: 'red' }];
    await apply('v1', name, { ...own, parts, tags: ['a'] });
    await apply('v1alpha1', name, old);
    // The item x stays, because the manager `new` owns it, too.
    expect((await read('v1', name))['spec']).to.deep.equal({ ...own, parts, tags: ['a'] });
  });

  it('fields that a version lacks do not bring back list items and fields that their own manager has stopped applying', async () => {
    const name = 'dropped-by-new';
    const [x, y] = [
      { name: 'x', size: 1, color: 'red' },
      { name: 'y', color: 'blue' },
    ];
    await apply('v1', name, { ...own, parts: [x, y], tags: ['a', 'b'] });
    const old = { name: 'a', fast: true, parts: [{ name: 'x', size: 1 }] };
    await apply('v1alpha1', name, old);
    await apply('v1', name, { ...own, parts: [{ name: 'x' }], tags: ['a'] });
    const { spec } = await read('v1', name);
    expect(spec).to.deep.equal({ ...own, parts: [{ name: 'x', size: 1 }], tags: ['a'] });
    await apply('v1', name, own);
    expect((await read('v1', name))['spec']).to.deep.equal({
      ...{ ...own, parts: [{ name: 'x', size: 1 }] },
    });
  });

  it('fields that a version lacks are not lost if their manager shortens a long list of them', async () => {
    const name = 'shrunk';
    const tags = Array.from({ length: 900 }, (_, index) => `${index} ${'x'.repeat(100)}`);
    await apply('v1', name, { ...own, tags });
    await apply('v1alpha1', name, { name: 'a', fast: true, legacy: { x: 1 } });
    const few = tags.slice(0, 100);
    await apply('v1', name, { ...own, tags: few });
    expect((await read('v1', name))['spec'])
      .to.have.property('tags')
      .that.includes.members(few);
  });

  it('fields that a version lacks stay owned by the field manager that has applied them', async () => {
    const name = 'owned';
    const parts = [{ name: 'x', color: 'red' }, { name: 'y' }];
    await apply('v1', name, { ...own, parts, tags: ['a'] });
    await apply('v1alpha1', name, { name: 'a', fast: true, parts: [{ name: 'y', size: 2 }] });
    const { metadata, spec } = await read('v1', name);
    expect(spec).to.deep.equal({ ...own, parts: [parts[0], { name: 'y', size: 2 }], tags: ['a'] });
    const owned = metadata.managedFields?.map(({ manager, fieldsV1 }) => [manager, fieldsV1]);
    const id = (item: string): string => `k:{"name":"${item}"}`;
    expect(Object.fromEntries(owned ?? [])).to.deep.equal({
      new: {
        'f:spec': {
          ...{ 'f:title': {}, 'f:mode': {}, 'f:tags': { 'v:"a"': {} } },
          'f:parts': {
            [id('x')]: { '.': {}, 'f:name': {}, 'f:color': {} },
            [id('y')]: { '.': {}, 'f:name': {} },
          },
        },
      },
      old: {
        'f:spec': {
          ...{ 'f:name': {}, 'f:fast': {} },
          'f:parts': { [id('y')]: { '.': {}, 'f:name': {}, 'f:size': {} } },
        },
      },
    });
  });

  it('fields that a version lacks stay with their list items when an update through that version reorders the list', async () => {
    const parts = ['x', 'y', 'z'].map((name) => ({ name, color: `color of ${name}` }));
    await create('v1', 'list', { ...own, parts });
    const old = await read('v1alpha1', 'list');
    const next = [{ name: 'z' }, { name: 'new' }, { name: 'x', size: 2 }];
    await target.admin.update({ ...old, spec: { name: 'a', fast: true, parts: next } });
    expect((await read('v1', 'list'))['spec']).to.deep.equal({
      ...own,
      parts: [parts[2], { name: 'new' }, { ...parts[0], size: 2 }],
    });
  });

  it('fields that a version lacks do not let a client change the status through the annotations that keep such fields', async () => {
    await create('v1', 'forged', own);
    const old = await read('v1alpha1', 'forged');
    const ready = { ...old, status: { phase: 'Ready' } };
    await target.admin.update(ready, { subresource: 'status' });
    const fields = [
      { version: 'v1', path: ['status', 'verified'], value: true },
      { version: 'v1', path: ['status', 'phase'], value: 'Forged', converted: 'Ready' },
      { version: 'v1', path: ['status'], value: {}, converted: { phase: 'Ready' } },
    ];
    const annotations = Object.fromEntries(
      fields.map((field, index) => [
        `kept-fields.operator-builder.io/${index}`,
        JSON.stringify(field),
      ]),
    );
    const key = { namespace, name: 'forged' };
    const body = { metadata: { annotations } };
    await target.admin.patch(kindOf('v1alpha1'), key, { type: 'merge', body });
    expect(await read('v1', 'forged')).to.deep.include({ spec: own, status: { phase: 'Ready' } });
  });

  it('fields that the storage version lacks are kept in the stored object', async () => {
    await create('v1alpha1', 'stored', { name: 'a', fast: true, legacy: { x: 1 } });
    const stored = await read('v1', 'stored');
    expect(stored['spec']).to.deep.equal({ title: 'a', mode: 'fast' });
    await target.admin.update({ ...stored, spec: { title: 'b', mode: 'fast', color: 'red' } });
    const old = await read('v1alpha1', 'stored');
    expect(old['spec']).to.deep.equal({ name: 'b', fast: true, legacy: { x: 1 } });
    await target.admin.update({ ...old, spec: { name: 'b', fast: true } });
    expect((await read('v1', 'stored'))['spec']).to.deep.equal({
      ...{ title: 'b', mode: 'fast', color: 'red' },
    });
    expect((await read('v1alpha1', 'stored'))['spec']).to.deep.equal({ name: 'b', fast: true });
  });
}

function shopsOf(group: string) {
  const mode = s.string({ enum: ['slow', 'fast', 'turbo'] });
  const byName = { listType: 'map', listMapKeys: ['name'] } as const;
  const part = s.object({ name: s.string(), size: s.optional(s.integer()) });
  const newPart = s.object({
    ...{ name: s.string(), size: s.optional(s.integer()), color: s.optional(s.string()) },
  });
  const v1 = s.object({
    ...{ title: s.string(), mode, color: s.optional(s.string()) },
    parts: s.optional(s.array(newPart, byName)),
    tags: s.optional(s.array(s.string(), { listType: 'set' })),
  });
  const legacy = s.optional(s.map(s.integer()));
  const parts = s.optional(s.array(part, byName));
  const v1alpha1 = s.object({ name: s.string(), fast: s.boolean(), legacy, parts });
  const phase = s.optional(s.string());
  return defineResource({
    ...{ group, kind: 'Shop' },
    versions: [
      {
        name: 'v1',
        storage: true,
        schema: s.object({ spec: v1 }),
        status: s.object({ phase, verified: s.optional(s.boolean()) }),
      },
      { name: 'v1alpha1', schema: s.object({ spec: v1alpha1 }), status: s.object({ phase }) },
    ],
    conversion: {
      hub: 'v1',
      spokes: {
        v1alpha1: {
          toHub: ({ spec: { name, fast, parts: old }, ...rest }) => ({
            ...rest,
            spec: {
              ...{ title: name, mode: fast ? ('fast' as const) : ('slow' as const) },
              ...(old && { parts: old }),
            },
          }),
          fromHub: ({ spec, status, ...rest }) => ({
            ...rest,
            ...(status && { status: { ...(status.phase && { phase: status.phase }) } }),
            spec: {
              ...{ name: spec.title, fast: spec.mode !== 'slow' },
              ...(spec.parts && {
                parts: spec.parts.map(({ name, size }) => ({ name, ...(size && { size }) })),
              }),
            },
          }),
        },
      },
    },
  });
}
