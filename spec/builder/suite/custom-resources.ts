import { expect } from 'chai';
import omit from 'lodash/omit.js';
import type { Builder } from '../../../lib/builder/index.js';
import { describeObject } from '../../../lib/object/describe-object.js';
import { ConfigMap, Secret } from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import type { OpenScene } from './builder-suite.js';
import { summary } from './scene.js';
import type { Scene } from './scene.js';

const text = { type: 'object', additionalProperties: { type: 'string' } };
const limits = { type: 'object', properties: { cpu: { type: 'integer' }, tags: text } };
const part = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, limits },
};
const parts = {
  ...{ type: 'array', items: part },
  ...{ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
};
const list = { type: 'array', items: { type: 'string' } };
const hosts = { ...list, 'x-kubernetes-list-type': 'set' };
const spec = {
  type: 'object',
  properties: { size: { type: 'integer' }, limits, tags: text, parts, hosts, list },
};
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

type Widget = KubernetesObject & Readonly<Record<string, unknown>>;

/** Serves the kind Widget, whose `spec` is required. */
async function serveWidgets({ admin, namespace, target }: Scene): Promise<ResourceType<Widget>> {
  const group = `${namespace}.example.com`;
  const openAPIV3Schema = {
    ...{ type: 'object', required: ['spec'] },
    properties: { spec, data: text, free: anything, maybe: { ...spec, nullable: true } },
  };
  await admin.create({
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: `widgets.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced' },
      names: { plural: 'widgets', kind: 'Widget', singular: 'widget', listKind: 'WidgetList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  } as never);
  const type = { group, version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true };
  await target.eventually(() => admin.list(type, { namespace }));
  return type;
}

/** Specs about custom resources, whose schema decides which fields may be null. */
export function customResourcesSuite(open: OpenScene): void {
  const chainOf = (scene: Scene, type: ResourceType<Widget>, fields: object): Builder =>
    scene.builder({ owns: [type] }).object({
      ...{ apiVersion: `${type.group}/v1`, kind: 'Widget', metadata: { name: 'one' } },
      ...fields,
    });

  const bodyOf = async (scene: Scene, type: ResourceType<Widget>): Promise<object> => {
    return omit(await scene.get(type, 'one'), ['apiVersion', 'kind', 'metadata']);
  };

  const size = { size: 1 };
  const cases: readonly [string, object, object][] = [
    ['all of the spec', { spec: { size: 3 } }, { spec: {} }],
    ['another map', { spec: {}, data: { a: 'b' } }, { spec: {}, data: {} }],
    ['a map in the spec', { spec: { ...size, tags: { a: 'b' } } }, { spec: { ...size, tags: {} } }],
    ['the only map in the spec', { spec: { limits: { cpu: 1 } } }, { spec: { limits: {} } }],
    [
      'a map in a map',
      { spec: { limits: { cpu: 1, tags: { a: 'b', 'c/d~e': 'f' } } } },
      { spec: { limits: { cpu: 2, tags: {} } } },
    ],
    [
      'a map in a list',
      { spec: { parts: [{ name: 'a' }, { name: 'b', limits: { cpu: 1 } }] } },
      { spec: { parts: [{ name: 'b', limits: {} }] } },
    ],
    ['the only list, atomic', { spec: { list: ['a'] } }, { spec: {} }],
    ['the only set', { spec: { hosts: ['a'] } }, { spec: {} }],
    ['a map without a schema', { spec: {}, free: { a: { b: 1 } } }, { spec: {}, free: { a: {} } }],
    [
      'a field called metadata',
      { spec: {}, free: { metadata: { a: 'b' } } },
      { spec: {}, free: { metadata: {} } },
    ],
    ['a map that may be null', { spec: {}, maybe: { size: 1 } }, { spec: {}, maybe: {} }],
  ];
  for (const [what, before, after] of cases) {
    it(`the builder empties ${what} without an error, and writes nothing in the next reconcile`, async () => {
      const scene = await open();
      const type = await serveWidgets(scene);
      await chainOf(scene, type, before).reconcile();
      const plan = await chainOf(scene, type, after).plan();
      const emptied = { approximate: true, reason: 'empties maps in a separate write first' };
      expect(plan.objects).to.have.lengthOf(1);
      expect(plan.objects[0]).to.include({ action: 'configure', ...emptied });
      expect(await bodyOf(scene, type)).to.deep.equal(before);
      const [result] = await chainOf(scene, type, after).reconcile();
      expect(result?.operation).to.equal('configured');
      expect(result?.changes).to.have.deep.members([...(plan.objects[0]?.changes ?? [])]);
      expect(await bodyOf(scene, type)).to.deep.equal(after);
      await scene.writes();
      const again = await chainOf(scene, type, after).reconcile();
      expect(summary(again)).to.deep.equal(['unchanged Widget/one']);
      expect(await scene.writes()).to.deep.equal([]);
      const failures = scene.events.filter(({ type: eventType }) => eventType === 'Warning');
      expect(failures).to.deep.equal([]);
    });
  }

  it('the builder prunes the dependencies of a pruned custom resource only after the finalizers of that resource are removed', async () => {
    const scene = await open();
    const type = await serveWidgets(scene);
    const key = { namespace: scene.namespace, name: 'one' };
    const chain = (): Builder => scene.builder({ owns: [type, ConfigMap, Secret] });
    const fields = { apiVersion: `${type.group}/v1`, kind: 'Widget', spec: {} };
    await chain()
      .configMap({ name: 'stays' })
      .secret({ name: 'password' })
      .object({ ...fields, metadata: { name: 'one', finalizers: ['example.com/disk'] } })
      .reconcile();
    const held = 'is being deleted, held by finalizers example.com/disk';
    const pruning = async (): Promise<readonly unknown[]> => {
      const results = await chain().configMap({ name: 'stays' }).reconcile();
      return results.slice(1).map(({ operation, ref, reason, requeueAfterMs }) => {
        return [operation, ref.kind, reason, requeueAfterMs];
      });
    };
    expect(await pruning()).to.deep.equal([['pending', 'Widget', held, 5_000]]);
    const where = `Widget ${scene.namespace}/one`;
    const waits = ['pending', 'Secret', `is not pruned yet: ${where} ${held}`, 5_000];
    expect(await pruning()).to.deep.equal([waits]);
    expect(await scene.find(Secret, 'password')).not.to.equal(undefined);
    const body = { metadata: { finalizers: null } };
    await scene.admin.patch(type, key, { type: 'merge', body });
    await scene.target.eventually(async () => {
      await pruning();
      expect(await scene.find(Secret, 'password')).to.equal(undefined);
    });
  });

  it('the builder empties a list of the type set in a required spec', async () => {
    const scene = await open();
    const type = await serveWidgets(scene);
    await chainOf(scene, type, { spec: { hosts: ['a'] } }).reconcile();
    const empty = { spec: { hosts: [] } };
    expect(summary(await chainOf(scene, type, empty).reconcile())).to.deep.equal([
      'configured Widget/one',
    ]);
    expect(summary(await chainOf(scene, type, empty).reconcile())).to.deep.equal([
      'unchanged Widget/one',
    ]);
  });

  it('the builder removes the last finalizer in one write', async () => {
    const scene = await open();
    const type = await serveWidgets(scene);
    const chain = (finalizers: readonly string[]): Builder =>
      chainOf(scene, type, { metadata: { name: 'one', finalizers }, spec: size });
    await chain(['example.com/disk']).reconcile();
    await scene.writes();
    expect(summary(await chain([]).reconcile())).to.deep.equal(['configured Widget/one']);
    expect(await scene.writes()).to.deep.equal(['patch widgets/one']);
    const { metadata } = await scene.get(type, 'one');
    expect(metadata.finalizers ?? []).to.deep.equal([]);
  });

  it('the builder keeps the keys of other managers in a map that the desired state empties', async () => {
    const scene = await open();
    const type = await serveWidgets(scene);
    await chainOf(scene, type, { spec: { size: 3, tags: { a: 'b' } } }).reconcile();
    await scene.edit(type, 'one', { body: { spec: { tags: { theirs: 'x' } } } });
    await chainOf(scene, type, { spec: { tags: {} } }).reconcile();
    expect(await bodyOf(scene, type)).to.deep.equal({ spec: { tags: { theirs: 'x' } } });
    await chainOf(scene, type, { spec: {} }).reconcile();
    expect(await bodyOf(scene, type)).to.deep.equal({ spec: { tags: { theirs: 'x' } } });
  });

  it('the builder keeps an empty map of another manager when it removes its own last key from the map', async () => {
    const scene = await open();
    const type = await serveWidgets(scene);
    await chainOf(scene, type, { spec: size }).reconcile();
    await scene.edit(type, 'one', { body: { spec: { tags: {} } } });
    await chainOf(scene, type, { spec: { ...size, tags: { a: 'b' } } }).reconcile();
    await chainOf(scene, type, { spec: size }).reconcile();
    expect(await bodyOf(scene, type)).to.deep.equal({ spec: { ...size, tags: {} } });
  });

  it('the builder completes a change if the operator stopped after it emptied a map and before it applied the rest', async () => {
    const scene = await open();
    const type = await serveWidgets(scene);
    await chainOf(scene, type, { spec: { limits: { cpu: 1 }, size: 1 } }).reconcile();
    const by = 'shop-operator';
    await scene.edit(type, 'one', { body: { spec: { limits: { cpu: null } } }, by });
    const after = { spec: { limits: {}, size: 2 } };
    await chainOf(scene, type, after).reconcile();
    expect(await bodyOf(scene, type)).to.deep.equal(after);
  });

  it('the builder names the object and the field if a required spec is missing', async () => {
    const scene = await open();
    const type = await serveWidgets(scene);
    await chainOf(scene, type, { spec: size }).reconcile();
    const failure = await chainOf(scene, type, {})
      .reconcile()
      .catch((error: unknown) => error);
    const subject = describeObject({ kind: 'Widget', namespace: scene.namespace, name: 'one' });
    expect((failure as Error).message)
      .to.include(subject)
      .and.match(/spec: Required value/);
  });
}
