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

  it('survive an update through a version without them', async () => {
    await create('v1', 'update', { title: 'a', mode: 'turbo', color: 'red' });
    const old = await read('v1alpha1', 'update');
    expect(old['spec']).to.deep.equal({ name: 'a', fast: true });
    await target.admin.update({ ...old, spec: { name: 'b', fast: true } });
    const { spec, metadata } = await read('v1', 'update');
    expect(spec).to.deep.equal({ title: 'b', mode: 'turbo', color: 'red' });
    expect(metadata.annotations).to.equal(undefined);
  });

  it('survive patches and applies through a version without them', async () => {
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

  it('give way to a change of what they were converted to', async () => {
    await create('v1', 'changed', { title: 'a', mode: 'turbo', color: 'red' });
    const old = await read('v1alpha1', 'changed');
    await target.admin.update({ ...old, spec: { name: 'a', fast: false } });
    expect((await read('v1', 'changed'))['spec']).to.deep.equal({
      ...{ title: 'a', mode: 'slow', color: 'red' },
    });
  });

  it('are removed by an apply in their version, beside a manager of another version', async () => {
    const key = { namespace, name: 'removed' };
    const apply = (spec: object): Promise<unknown> =>
      target.admin.apply({ ...kindOf('v1'), metadata: key, spec }, { fieldManager: 'team' });
    await apply({ title: 'a', mode: 'turbo', color: 'red' });
    const marks = { metadata: { annotations: { touched: 'yes' } } };
    await target.admin.patch(kindOf('v1alpha1'), key, { type: 'merge', body: marks });
    await apply({ title: 'a', mode: 'turbo' });
    expect((await read('v1', key.name))['spec']).to.deep.equal({ title: 'a', mode: 'turbo' });
  });

  it('survive in the stored object if the stored version lacks them', async () => {
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
  const v1 = s.object({ title: s.string(), mode, color: s.optional(s.string()) });
  const legacy = s.optional(s.map(s.integer()));
  const v1alpha1 = s.object({ name: s.string(), fast: s.boolean(), legacy });
  return defineResource({
    ...{ group, kind: 'Shop' },
    versions: [
      { name: 'v1', storage: true, schema: s.object({ spec: v1 }) },
      { name: 'v1alpha1', schema: s.object({ spec: v1alpha1 }) },
    ],
    conversion: {
      hub: 'v1',
      spokes: {
        v1alpha1: {
          toHub: ({ spec, ...rest }) => ({
            ...rest,
            spec: { title: spec.name, mode: spec.fast ? ('fast' as const) : ('slow' as const) },
          }),
          fromHub: ({ spec, ...rest }) => ({
            ...rest,
            spec: { name: spec.title, fast: spec.mode !== 'slow' },
          }),
        },
      },
    },
  });
}
