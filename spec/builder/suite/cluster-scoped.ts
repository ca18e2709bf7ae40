import { expect } from 'chai';
import { Builder } from '../../../lib/builder/index.js';
import type { BuilderOptions } from '../../../lib/builder/index.js';
import { ClusterRole, ConfigMap } from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import type { OpenScene } from './builder-suite.js';
import { controllerName, summary } from './scene.js';
import type { Scene } from './scene.js';

const rbac = 'rbac.authorization.k8s.io/v1';

/** Owners that live in no namespace. */
export function clusterScopedSuite(open: OpenScene): void {
  const newOwner = (scene: Scene): Promise<KubernetesObject> =>
    scene.admin.create<ClusterRole>({
      ...{ apiVersion: rbac, kind: 'ClusterRole', metadata: { name: `owner-${scene.namespace}` } },
      rules: [],
    });

  const builder = (
    scene: Scene,
    owner: KubernetesObject,
    options: Partial<BuilderOptions> = {},
  ): Builder =>
    new Builder({
      ...{ client: scene.operator.client, owner, controllerName },
      owns: [ConfigMap, ClusterRole],
      maxDeletions: '100%',
      ...options,
    });

  it('have objects in the namespace of the option, and cluster-scoped ones', async () => {
    const scene = await open();
    const owner = await newOwner(scene);
    const name = `of-${scene.namespace}`;
    const chain = (): Builder =>
      builder(scene, owner, { namespace: scene.namespace })
        .configMap({ name: 'env', data: { A: '1' } })
        .object({
          apiVersion: rbac,
          kind: 'ClusterRole',
          metadata: { name },
          rules: [],
        } as ClusterRole);
    expect(summary(await chain().reconcile())).to.deep.equal([
      'created ConfigMap/env',
      `created ClusterRole/${name}`,
    ]);
    expect(summary(await chain().reconcile())).to.deep.equal([
      'unchanged ConfigMap/env',
      `unchanged ClusterRole/${name}`,
    ]);
    const [reference] = (await scene.get(ConfigMap, 'env')).metadata.ownerReferences ?? [];
    expect(reference).to.deep.include({ kind: 'ClusterRole', uid: owner.metadata.uid });
    const pruned = await builder(scene, owner, { namespace: scene.namespace }).reconcile();
    expect(summary(pruned).sort()).to.deep.equal([
      `deleted ClusterRole/${name}`,
      'deleted ConfigMap/env',
    ]);
  });

  it('have objects in several namespaces, each named with its own', async () => {
    const scene = await open();
    const elsewhere = await scene.target.namespace();
    const owner = await newOwner(scene);
    const chain = (...namespaces: readonly string[]): Builder =>
      namespaces.reduce<Builder>(
        (links, namespace) => links.configMap({ name: 'env', namespace }),
        builder(scene, owner),
      );
    await chain(scene.namespace, elsewhere).reconcile();
    const results = await chain(elsewhere).reconcile();
    expect(summary(results)).to.deep.equal(['unchanged ConfigMap/env', 'deleted ConfigMap/env']);
    expect(await scene.find(ConfigMap, 'env')).to.equal(undefined);
  });

  it('have to be told the namespace of a namespaced object', async () => {
    const scene = await open();
    const owner = await newOwner(scene);
    const failure = await builder(scene, owner)
      .configMap({ name: 'env' })
      .reconcile()
      .catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'InvalidOption');
    expect((failure as Error).message).to.include('set the option namespace');
  });
}
