import { expect } from 'chai';
import { requeueAfterOf } from '../../../lib/apply/index.js';
import type { ObjectResult } from '../../../lib/apply/index.js';
import { Builder } from '../../../lib/builder/index.js';
import type { BuilderOptions } from '../../../lib/builder/index.js';
import { faulty } from '../../../lib/client/index.js';
import type { ClusterRole } from '../../../lib/object/kinds.js';
import {
  ConfigMap,
  CustomResourceDefinition,
  Namespace,
  PersistentVolumeClaim,
} from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import type { OperatorError } from '../../../lib/system/operator-error.js';
import type { OpenScene } from './builder-suite.js';
import { controllerName, summary } from './scene.js';
import type { Scene } from './scene.js';

const owns = [Namespace, CustomResourceDefinition, ConfigMap, PersistentVolumeClaim];
const pruned = { prune: true };

/** Specs about namespaces with their contents, and definitions with their custom resources. */
export function containersSuite(open: OpenScene): void {
  const openWithOwner = async (): Promise<{ scene: Scene; owner: KubernetesObject }> => {
    const scene = await open();
    const metadata = { name: `owner-${scene.namespace}` };
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' } as const;
    const owner = await scene.admin.create<ClusterRole>({ ...role, metadata, rules: [] });
    return { scene, owner };
  };

  const builder = (
    scene: Scene,
    owner: KubernetesObject,
    options: Partial<BuilderOptions> = {},
  ): Builder =>
    new Builder({
      ...{ client: scene.operator.client, owner, controllerName, owns, maxDeletions: '100%' },
      ...{ namespace: scene.namespace, clock: scene.target.clock, ...options },
    });

  const placeOf = ({ namespace }: Scene): Namespace => ({
    ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${namespace}-inner` } },
  });
  const settingsIn = ({ namespace }: Scene): { name: string; namespace: string } => ({
    ...{ name: 'settings', namespace: `${namespace}-inner` },
  });
  const claimIn = (scene: Scene) => ({
    ...settingsIn(scene),
    spec: {
      accessModes: ['ReadWriteOnce'] as const,
      resources: { requests: { storage: '1Gi' } },
    },
  });

  const gadgetType = ({ namespace }: Scene): ResourceType<KubernetesObject> => ({
    ...{ group: `${namespace}.example.com`, version: 'v1' },
    ...{ kind: 'Gadget', plural: 'gadgets', namespaced: true },
  });
  const definitionOf = (scene: Scene, fields: object, kind = 'Gadget'): KubernetesObject => {
    const { group, version } = gadgetType(scene);
    const spec = { type: 'object', properties: fields };
    const openAPIV3Schema = { type: 'object', properties: { spec } };
    const plural = `${kind.toLowerCase()}s`;
    return {
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      metadata: { name: `${plural}.${group}` },
      spec: {
        ...{ group, scope: 'Namespaced', names: { plural, kind } },
        versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    } as KubernetesObject;
  };
  const gadget = (scene: Scene, spec: object, finalizers?: string[]): KubernetesObject => ({
    ...{ apiVersion: `${scene.namespace}.example.com/v1`, kind: 'Gadget', spec },
    metadata: { name: 'one', ...(finalizers && { finalizers }) },
  });
  const size = { size: { type: 'integer' } };

  const reconcileUntilDone = (scene: Scene, chain: () => Builder): Promise<readonly string[]> =>
    scene.target.eventually(async () => {
      const results = summary(await chain().reconcile());
      if (results.some((result) => result.startsWith('pending'))) throw new Error(String(results));
      return results;
    });

  const inner = (scene: Scene): string => placeOf(scene).metadata.name ?? '';

  it('the builder applies a Namespace before its contents, whatever the order of the chain', async () => {
    const { scene, owner } = await openWithOwner();
    const chain = (): Builder =>
      builder(scene, owner).configMap(settingsIn(scene)).object(placeOf(scene));
    expect(summary(await chain().reconcile())).to.deep.equal([
      `created Namespace/${inner(scene)}`,
      'created ConfigMap/settings',
    ]);
    expect(summary(await chain().reconcile())).to.deep.equal([
      `unchanged Namespace/${inner(scene)}`,
      'unchanged ConfigMap/settings',
    ]);
  });

  it('the builder applies the Namespaces that one part of the chain needs together with this part', async () => {
    const { scene, owner } = await openWithOwner();
    const chain = builder(scene, owner).object(placeOf(scene)).configMap(settingsIn(scene));
    expect(summary(await chain.reconcileConfigMap())).to.deep.equal([
      `created Namespace/${inner(scene)}`,
      'created ConfigMap/settings',
    ]);
    expect(summary(await chain.reconcileObjects())).to.deep.equal([
      `unchanged Namespace/${inner(scene)}`,
    ]);
  });

  it('the builder keeps the contents of a Namespace pending while the Namespace is being deleted', async () => {
    const { scene, owner } = await openWithOwner();
    const finalizers = ['example.com/hold'];
    const place = { ...placeOf(scene), metadata: { name: inner(scene), finalizers } };
    await builder(scene, owner).object(place).reconcile();
    await scene.admin.delete(Namespace, { name: inner(scene) });
    const results = await builder(scene, owner)
      .object(place)
      .configMap(settingsIn(scene))
      .reconcile();
    expect(summary(results)).to.deep.equal([
      `pending Namespace/${inner(scene)}`,
      'pending ConfigMap/settings',
    ]);
    expect(results[1]?.reason).to.include(`Namespace ${inner(scene)}, which is pending`);
    const body = { metadata: { finalizers: [] } };
    await scene.admin.patch(Namespace, { name: inner(scene) }, { type: 'merge', body });
  });

  it('the builder keeps custom resources pending until their definition is established', async () => {
    const { scene, owner } = await openWithOwner();
    const definition = definitionOf(scene, size);
    const chain = (): Builder =>
      builder(scene, owner)
        .object(gadget(scene, { size: 1 }))
        .object(definition);
    const plan = await chain().plan();
    expect(plan.objects.map(({ action }) => action)).to.deep.equal(['create', 'create']);
    const results = await chain().reconcile();
    const name = definition.metadata.name ?? '';
    expect(summary(results)).to.deep.equal([
      `created CustomResourceDefinition/${name}`,
      'pending Gadget/one',
    ]);
    expect(results[1]?.reason).to.include(`waits for CustomResourceDefinition ${name}`);
    expect(requeueAfterOf(results)).to.equal(1_000);
    expect(await reconcileUntilDone(scene, chain)).to.deep.equal([
      `unchanged CustomResourceDefinition/${name}`,
      'created Gadget/one',
    ]);
    expect(summary(await chain().reconcile())).to.deep.equal([
      `unchanged CustomResourceDefinition/${name}`,
      'unchanged Gadget/one',
    ]);
  });

  it('the builder writes a new field of a custom resource only after it has applied the definition that adds the field', async () => {
    const { scene, owner } = await openWithOwner();
    const chain = (fields: object, spec: object): Builder =>
      builder(scene, owner).object(definitionOf(scene, fields)).object(gadget(scene, spec));
    await reconcileUntilDone(scene, () => chain(size, { size: 1 }));
    const next = (): Builder => chain({ ...size, color: { type: 'string' } }, { color: 'red' });
    const plan = await next().plan();
    expect(plan.objects.map(({ action }) => action)).to.deep.equal(['configure', 'wait']);
    expect(summary(await next().reconcile())[1]).to.equal('pending Gadget/one');
    await reconcileUntilDone(scene, next);
    const { namespace } = scene;
    const stored = await scene.admin.get(gadgetType(scene), { namespace, name: 'one' });
    expect(stored).to.have.deep.property('spec', { color: 'red' });
  });

  it('the builder does not wait for a definition after it has repaired drift of the definition', async () => {
    const { scene, owner } = await openWithOwner();
    const definition = definitionOf(scene, size);
    const chain = (): Builder =>
      builder(scene, owner)
        .object(definition)
        .object(gadget(scene, { size: 1 }));
    await reconcileUntilDone(scene, chain);
    const other = definitionOf(scene, { ...size, color: { type: 'string' } });
    const { spec } = other as CustomResourceDefinition;
    const name = definition.metadata.name ?? '';
    const patch = { type: 'merge', body: { spec: { versions: spec.versions } } } as const;
    const by = { fieldManager: 'kubectl-edit' };
    await scene.admin.patch(CustomResourceDefinition, { name }, patch, by);
    expect(summary(await chain().reconcile())).to.deep.equal([
      `configured CustomResourceDefinition/${name}`,
      'unchanged Gadget/one',
    ]);
  });

  it('the builder reports why a definition is not established', async () => {
    const { scene, owner } = await openWithOwner();
    await scene.admin.create(definitionOf(scene, size));
    const { group } = gadgetType(scene);
    const rival = definitionOf(scene, size, 'Device') as CustomResourceDefinition;
    const names = { ...rival.spec.names, kind: 'Device', shortNames: ['gadgets'] };
    const spec = { ...rival.spec, names } as CustomResourceDefinition['spec'];
    const device = { ...gadget(scene, {}), kind: 'Device' };
    await scene.target.eventually(async () => {
      const chain = builder(scene, owner)
        .object({ ...rival, spec })
        .object(device);
      const results = await chain.reconcile();
      expect(results[1]?.operation).to.equal('pending');
      expect(results[1]?.reason)
        .to.include(`CustomResourceDefinition devices.${group}, which is not established yet`)
        .and.include('already in use');
      expect(requeueAfterOf(results)).to.equal(5_000);
    });
  });

  it('the builder lets the server reject a malformed definition', async () => {
    const { scene, owner } = await openWithOwner();
    const { spec, ...definition } = definitionOf(scene, size) as CustomResourceDefinition;
    for (const malformed of [{ versions: [null] }, { names: null }]) {
      const failure = await builder(scene, owner)
        .object({ ...definition, spec: { ...spec, ...malformed } } as never)
        .reconcile()
        .catch((error: unknown) => error);
      expect(failure).to.have.property('code', 'ReconcileFailed');
    }
  });

  it('the builder applies webhook configurations last', async () => {
    const { scene, owner } = await openWithOwner();
    const webhooks = {
      ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration' },
      ...{ metadata: { name: `hooks-${scene.namespace}` }, webhooks: [] },
    };
    const other = {
      ...{ apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', spec: { controller: 'a/b' } },
      metadata: { name: `class-${scene.namespace}` },
    };
    const chain = (): Builder =>
      builder(scene, owner).object(webhooks).object(other).configMap({ name: 'env' });
    const kindsIn = (results: readonly ObjectResult[]) => results.map(({ ref }) => ref.kind);
    const late = ['IngressClass', 'MutatingWebhookConfiguration'];
    expect(kindsIn(await chain().reconcileObjects())).to.deep.equal(late);
    expect(kindsIn(await chain().reconcile())).to.deep.equal(['ConfigMap', ...late]);
  });

  describe('when Namespaces and definitions are pruned', () => {
    it('the builder keeps Namespaces and definitions that are not marked for pruning, even when empty', async () => {
      const { scene, owner } = await openWithOwner();
      const definition = definitionOf(scene, size);
      const own = [...owns, gadgetType(scene)];
      await reconcileUntilDone(scene, () =>
        builder(scene, owner)
          .object(placeOf(scene))
          .configMap(settingsIn(scene))
          .object(definition)
          .object(gadget(scene, { size: 1 })),
      );
      const results = await builder(scene, owner, { owns: own }).reconcile();
      expect(summary(results).sort()).to.deep.equal([
        'deleted ConfigMap/settings',
        'deleted Gadget/one',
      ]);
      expect(await builder(scene, owner, { owns: own }).reconcile()).to.deep.equal([]);
      const { status } = await scene.admin.get(Namespace, { name: inner(scene) });
      expect(status?.phase).to.equal('Active');
      const name = definition.metadata.name ?? '';
      const { metadata } = await scene.admin.get(CustomResourceDefinition, { name });
      expect(metadata.deletionTimestamp).to.equal(undefined);
    });

    for (const [why, status] of [
      ['could not be deleted', 503],
      ['changes while it is deleted', 409],
    ] as const) {
      it(`the builder keeps the backend of a webhook whose configuration ${why}`, async () => {
        const { scene, owner } = await openWithOwner();
        const kind = 'MutatingWebhookConfiguration';
        const webhooks = {
          ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind },
          ...{ metadata: { name: `hooks-${scene.namespace}` }, webhooks: [] },
        };
        const own = { owns: [...owns, { apiVersion: webhooks.apiVersion, kind }] };
        await builder(scene, owner, own)
          .object(webhooks)
          .configMap({ name: 'backend' })
          .reconcile();
        const reason = status === 409 ? 'Conflict' : 'ServiceUnavailable';
        const fault = { type: 'error', status, reason } as const;
        const rules = [{ fault, verbs: ['delete' as const], kinds: [kind] }];
        const client = faulty(scene.operator.client, { rules });
        const results = await builder(scene, owner, { ...own, client })
          .reconcile()
          .then(summary, (error: unknown) => (error as OperatorError).code);
        const waiting = [`pending ${kind}/hooks-${scene.namespace}`];
        expect(results).to.deep.equal(status === 409 ? waiting : 'ReconcileFailed');
        expect(await scene.find(ConfigMap, 'backend')).not.to.equal(undefined);
        expect(summary(await builder(scene, owner, own).reconcile())).to.deep.equal([
          `deleted ${kind}/hooks-${scene.namespace}`,
          'deleted ConfigMap/backend',
        ]);
      });
    }

    it('the builder deletes a Namespace only after the owned objects in it are gone', async () => {
      const { scene, owner } = await openWithOwner();
      await builder(scene, owner)
        .object(placeOf(scene), pruned)
        .configMap(settingsIn(scene))
        .reconcile();
      const plan = await builder(scene, owner).plan();
      expect(plan.objects.map(({ action, ref }) => `${action} ${ref.kind}`)).to.deep.equal([
        ...['prune ConfigMap', 'wait Namespace'],
      ]);
      const results = await builder(scene, owner).reconcile();
      expect(summary(results)).to.deep.equal([
        'deleted ConfigMap/settings',
        `pending Namespace/${inner(scene)}`,
      ]);
      expect(results[1]?.reason).to.include(`ConfigMap ${inner(scene)}/settings is still in it`);
      expect(requeueAfterOf(results)).to.equal(1_000);
      expect(await reconcileUntilDone(scene, () => builder(scene, owner))).to.deep.equal([
        `deleted Namespace/${inner(scene)}`,
      ]);
    });

    it('the builder deletes a definition only after its custom resources are gone', async () => {
      const { scene, owner } = await openWithOwner();
      const own = [...owns, gadgetType(scene)];
      const held = gadget(scene, { size: 1 }, ['example.com/hold']);
      const definition = definitionOf(scene, size);
      await reconcileUntilDone(scene, () =>
        builder(scene, owner).object(definition, pruned).object(held),
      );
      const empty = (): Builder => builder(scene, owner, { owns: own });
      const name = definition.metadata.name ?? '';
      expect(summary(await empty().reconcile())).to.deep.equal([
        'pending Gadget/one',
        `pending CustomResourceDefinition/${name}`,
      ]);
      expect(summary(await empty().reconcile())).to.deep.equal([
        `pending CustomResourceDefinition/${name}`,
      ]);
      const key = { namespace: scene.namespace, name: 'one' };
      const body = { metadata: { finalizers: [] } };
      await scene.admin.patch(gadgetType(scene), key, { type: 'merge', body });
      expect(await reconcileUntilDone(scene, empty)).to.deep.equal([
        `deleted CustomResourceDefinition/${name}`,
      ]);
    });

    it('the builder keeps a Namespace that contains a chained object or an object that is never pruned', async () => {
      const { scene, owner } = await openWithOwner();
      const chain = (): Builder =>
        builder(scene, owner).object(placeOf(scene), pruned).persistentVolumeClaim(claimIn(scene));
      await chain().configMap(settingsIn(scene)).reconcile();
      const without = await builder(scene, owner)
        .persistentVolumeClaim(claimIn(scene))
        .configMap(settingsIn(scene))
        .reconcile();
      expect(summary(without)).to.include(`pending Namespace/${inner(scene)}`);
      expect(requeueAfterOf(without)).to.equal(undefined);
      const empty = await builder(scene, owner).reconcile();
      expect(summary(empty)).to.deep.equal([
        'deleted ConfigMap/settings',
        `pending Namespace/${inner(scene)}`,
      ]);
      const [left] = await builder(scene, owner).reconcile();
      expect(left?.reason).to.include(`PersistentVolumeClaim ${inner(scene)}/settings is still`);
      const { status } = await scene.admin.get(Namespace, { name: inner(scene) });
      expect(status?.phase).to.equal('Active');
    });
  });
}
