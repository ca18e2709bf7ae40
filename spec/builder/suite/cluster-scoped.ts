import { expect } from 'chai';
import { requeueAfterOf } from '../../../lib/apply/index.js';
import { Builder } from '../../../lib/builder/index.js';
import type { BuilderOptions } from '../../../lib/builder/index.js';
import { getIfExists } from '../../../lib/client/index.js';
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Deployment,
  Service,
  ServiceAccount,
} from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import { silentLogger } from '../../../lib/system/logger.js';
import type { OpenScene } from './builder-suite.js';
import { controllerName, podSpec, summary } from './scene.js';
import type { Scene } from './scene.js';

const rbac = 'rbac.authorization.k8s.io/v1';

/** Specs about owners without a namespace. */
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

  it('cluster-scoped owners own objects in the namespace that an option names, and cluster-scoped objects', async () => {
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
        });
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

  it('cluster-scoped owners own objects of the same name in several namespaces', async () => {
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

  it('cluster-scoped owners cause only one warning about objects that the option namespace excludes from pruning', async () => {
    const scene = await open();
    const elsewhere = await scene.target.namespace();
    const owner = await newOwner(scene);
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
    const options = { logger, controllerName: 'warned', namespace: scene.namespace };
    const chain = (...namespaces: readonly string[]): Builder =>
      namespaces.reduce<Builder>(
        (links, namespace) => links.configMap({ name: 'env', namespace }),
        builder(scene, owner, options),
      );
    await chain(scene.namespace).reconcile();
    expect(warnings).to.deep.equal([]);
    for (const data of ['1', '2']) {
      await chain(scene.namespace, elsewhere)
        .configMap({ name: 'more', data: { data } })
        .reconcile();
    }
    expect(warnings).to.deep.equal([
      `with the option namespace (${scene.namespace}), objects in ${elsewhere} are not pruned once the chain has no object there; give each object its namespace instead of the option`,
    ]);
  });

  it('cluster-scoped owners keep the RBAC permissions of the pods of a workload until its successor is ready', async () => {
    const scene = await open();
    const { namespace } = scene;
    const owner = await newOwner(scene);
    const owns = [ServiceAccount, ClusterRole, ClusterRoleBinding, Service, Deployment];
    const chain = (workload: string): Builder => {
      const metadata = { name: `${workload}-${namespace}` };
      const subjects = [{ kind: 'ServiceAccount', namespace, name: workload }];
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', ...metadata };
      const role = { apiVersion: rbac, kind: 'ClusterRole', metadata, rules: [] };
      const binding = { apiVersion: rbac, kind: 'ClusterRoleBinding', metadata };
      return builder(scene, owner, { namespace, owns, clock: scene.target.clock })
        .serviceAccount({ name: workload })
        .object(role)
        .object({ ...binding, subjects, roleRef } as KubernetesObject)
        .service({ name: 'front', workload, spec: { ports: [{ port: 80 }] } })
        .deployment({ name: workload, podSpec: { ...podSpec, serviceAccountName: workload } });
    };
    await scene.reconcileUntilDone(() => chain('old'));
    await scene.target.eventually(async () => {
      expect((await scene.get(Deployment, 'old')).status?.readyReplicas).to.equal(1);
    });
    const results = await chain('new').reconcile();
    expect(summary(results.filter(({ ref }) => ref.name.startsWith('old'))).sort()).to.deep.equal([
      `pending ClusterRole/old-${namespace}`,
      `pending ClusterRoleBinding/old-${namespace}`,
      'pending Deployment/old',
      'pending ServiceAccount/old',
    ]);
    await scene.reconcileUntilDone(() => chain('new'));
    const name = `old-${namespace}`;
    expect(await getIfExists(scene.admin, ClusterRoleBinding, { name })).to.equal(undefined);
  });

  it('cluster-scoped owners are requeued after 30 s for an object whose namespace is being deleted', async () => {
    const scene = await open();
    const elsewhere = await scene.target.namespace();
    const owner = await newOwner(scene);
    const metadata = { namespace: elsewhere, name: 'held', finalizers: ['example.com/held'] };
    await scene.admin.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    await scene.admin.delete({ apiVersion: 'v1', kind: 'Namespace' }, { name: elsewhere });
    const chain = builder(scene, owner).configMap({ name: 'env', namespace: elsewhere });
    const results = await chain.reconcile();
    expect(summary(results)).to.deep.equal(['pending ConfigMap/env']);
    expect(requeueAfterOf(results)).to.equal(30_000);
    const body = { metadata: { finalizers: null } };
    const patch = { type: 'merge', body } as const;
    await scene.admin.patch(ConfigMap, { namespace: elsewhere, name: 'held' }, patch);
  });

  it('cluster-scoped owners resolve the references of a Service or an autoscaler in the namespace of that object', async () => {
    const scene = await open();
    const elsewhere = await scene.target.namespace();
    const owner = await newOwner(scene);
    const places = [scene.namespace, elsewhere];
    const chain = places.reduce<Builder>(
      (links, namespace, index) => {
        const selector = { app: `web-${index}` };
        return links
          .deployment({ name: 'web', namespace, selector, podSpec })
          .service({ name: 'web', namespace, spec: { ports: [{ port: 80 }] } })
          .horizontalPodAutoscaler({ name: 'web', namespace, spec: { maxReplicas: 3 } });
      },
      builder(scene, owner),
    );
    await chain.reconcile();
    const selectors = await Promise.all(
      places.map(async (namespace) => {
        const { spec } = await scene.admin.get(Service, { namespace, name: 'web' });
        return spec?.selector;
      }),
    );
    expect(selectors).to.deep.equal([{ app: 'web-0' }, { app: 'web-1' }]);
  });

  it('cluster-scoped owners reject a reference to an object in another namespace', async () => {
    const scene = await open();
    const elsewhere = await scene.target.namespace();
    const owner = await newOwner(scene);
    const chain = () =>
      builder(scene, owner, { namespace: scene.namespace })
        .configMap({ name: 'env', namespace: elsewhere })
        .deployment({ name: 'web', namespace: elsewhere, podSpec });
    const chains = [
      chain().service({ name: 'web', spec: { ports: [{ port: 80 }] } }),
      chain().deployment({ name: 'api', podSpec, rolloutOn: ['env'] }),
    ];
    for (const each of chains) {
      const failure = await each.reconcile().catch((error: unknown) => error);
      expect(failure).to.have.property('code', 'UnknownReference');
    }
  });

  it('cluster-scoped owners require a namespace for a namespaced object', async () => {
    const scene = await open();
    const owner = await newOwner(scene);
    const failure = await builder(scene, owner)
      .configMap({ name: 'env' })
      .reconcile()
      .catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'InvalidOption');
    expect((failure as Error).message).to.include('or set the option namespace');
  });
}
