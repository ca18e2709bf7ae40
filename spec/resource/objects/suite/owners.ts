import { expect } from 'chai';
import { forwarding } from '../../../../lib/client/index.js';
import type { Client } from '../../../../lib/client/index.js';
import { ClusterRole, ConfigMap } from '../../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../../lib/object/kubernetes-object.js';
import { objectsResource } from '../../../../lib/resource/index.js';
import type { Resource } from '../../../../lib/resource/index.js';
import { withCache } from '../../../builder/suite/scene.js';
import type { Scene } from '../../../builder/suite/scene.js';
import { configMap, configMaps, failureOf, keep, leave } from './keeping.js';
import type { OpenScene } from './keeping.js';

const rbac = 'rbac.authorization.k8s.io/v1';

/** Declares namespaced and cluster-scoped owners. */
export function ownersSuite(open: OpenScene): void {
  const clusterOwner = (scene: Scene): Promise<KubernetesObject> =>
    scene.admin.create(role(`owner-${scene.namespace}`));

  const inNamespaces = (...namespaces: readonly string[]): readonly ConfigMap[] =>
    namespaces.map((namespace) => ({ ...configMap('a'), metadata: { name: 'a', namespace } }));

  it('a cluster-scoped owner has objects in several namespaces', async () => {
    const scene = await open();
    const elsewhere = await scene.target.namespace();
    const owner = await clusterOwner(scene);
    await keep(scene, [configMaps(inNamespaces(scene.namespace, elsewhere))], { owner });
    await scene.writes();
    await keep(scene, [configMaps(inNamespaces(scene.namespace, elsewhere))], { owner });
    expect(await scene.writes()).to.deep.equal([]);
    await keep(scene, [configMaps(inNamespaces(elsewhere))], { owner });
    expect(await scene.find(ConfigMap, 'a')).to.equal(undefined);
    await scene.writes();
    await leave(scene, [configMaps([])], { owner });
    expect(await scene.writes()).to.deep.equal(['delete configmaps/a']);
    // Foreground deletion: the garbage collector completes it.
    await scene.target.eventually(async () => {
      const { items } = await scene.admin.list(ConfigMap, {
        namespace: elsewhere,
        labelSelector: 'operator-builder.io/resource=settings',
      });
      expect(items).to.deep.equal([]);
    });
  });

  it('a cluster-scoped owner can have cluster-scoped objects, and causes no read request for cached kinds', async () => {
    const scene = await open();
    const owner = await clusterOwner(scene);
    const name = `of-${scene.namespace}`;
    const { client, stop } = await withCache(scene.operator.client, [ConfigMap, ClusterRole]);
    try {
      const resource = mixed([role(name), ...inNamespaces(scene.namespace)]);
      await keep(scene, [resource], { owner, client });
      await scene.operator.requests();
      await keep(scene, [resource], { owner, client });
      expect(await scene.operator.requests()).to.deep.equal([]);
      await leave(scene, [resource], { owner, client });
      expect(await scene.writes()).to.deep.equal([
        `delete clusterroles/${name}`,
        'delete configmaps/a',
      ]);
    } finally {
      await stop();
    }
  });

  it('a cluster-scoped owner requires a namespace in each namespaced object', async () => {
    const scene = await open();
    const owner = await clusterOwner(scene);
    const failure = await failureOf(keep(scene, [configMaps([configMap('a')])], { owner }));
    expect(failure.errors.map(({ code }) => code)).to.deep.equal(['InvalidObject']);
    expect(failure.message).to.include('set metadata.namespace');
  });

  it('a namespaced owner cannot have cluster-scoped objects', async () => {
    const scene = await open();
    const failure = await failureOf(keep(scene, [mixed([configMap('a'), role('x')])]));
    expect(failure.errors.map(({ code }) => code)).to.deep.equal(['InvalidObject']);
    expect(failure.message)
      .to.include('ClusterRole x')
      .and.to.include('cannot own cluster-scoped objects');
    expect(await scene.writes()).to.deep.equal([]);
  });

  it('a namespaced owner needs no permissions in other namespaces', async () => {
    const scene = await open();
    const looked: (string | undefined)[] = [];
    const client: Client = {
      ...forwarding(scene.operator.client),
      list: (type, options) => {
        looked.push(options?.namespace);
        return scene.operator.client.list(type, options);
      },
    };
    await keep(scene, [mixed([configMap('a')])], { client });
    expect(looked).to.deep.equal([scene.namespace]);
  });

  it('an owner that was not read from the server is rejected', async () => {
    const scene = await open();
    const owner = { ...scene.owner, metadata: { name: 'new', namespace: scene.namespace } };
    const failure = await failureOf(keep(scene, [configMaps([configMap('a')])], { owner }));
    expect(failure.errors.map(({ code }) => code)).to.deep.equal(['InvalidOwner']);
    expect(failure.step).to.equal('getCurrentState');
  });

  it('an owner that is deleted with --cascade=orphan leaves its objects', async () => {
    const scene = await open();
    const resource = configMaps([configMap('a')]);
    await keep(scene, [resource]);
    await scene.writes();
    const metadata = { ...scene.owner.metadata, finalizers: ['orphan'] };
    const context = await leave(scene, [resource], { owner: { ...scene.owner, metadata } });
    expect(context.reconciliationCanceled).to.equal(undefined);
    expect(await scene.writes()).to.deep.equal([]);
  });

  it('an owner waits until garbage collection has deleted the objects of an earlier owner with its name', async () => {
    const scene = await open();
    const resource = configMaps([configMap('a', { k: '1' })]);
    await keep(scene, [resource]);
    const { metadata } = await scene.get(ConfigMap, 'a');
    const uid = 'dead0000-0000-4000-8000-000000000000';
    const owner = { ...scene.owner, metadata: { ...scene.owner.metadata, uid } };
    await scene.writes();
    const context = await keep(scene, [resource], { owner });
    expect(context.reconciliationCanceled?.reason).to.include('garbage collection will delete it');
    expect(await scene.writes()).to.deep.equal([]);
    expect((await scene.get(ConfigMap, 'a')).metadata.uid).to.equal(metadata.uid);
  });
}

function role(name: string): ClusterRole {
  return { apiVersion: rbac, kind: 'ClusterRole', metadata: { name }, rules: [] };
}

function mixed(desired: readonly (ClusterRole | ConfigMap)[]): Resource {
  return objectsResource({
    ...{ name: 'mixed', types: [ClusterRole, ConfigMap] },
    getDesiredState: () => desired,
  });
}
