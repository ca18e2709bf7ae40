import { expect } from 'chai';
import { isReconcileFailed } from '../../../lib/apply/index.js';
import { Builder } from '../../../lib/builder/index.js';
import { faulty, forwarding } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import type { PersistentVolumeClaim } from '../../../lib/object/kinds.js';
import {
  ConfigMap,
  Deployment,
  Ingress,
  NetworkPolicy,
  Secret,
  Service,
  StatefulSet,
} from '../../../lib/object/kinds.js';
import type { OperatorError } from '../../../lib/system/operator-error.js';
import type { OpenScene } from './builder-suite.js';
import { errorsOf } from './immutable.js';
import { controllerName, newOwner, podSpec, summary, usedKinds } from './scene.js';

const ports = [{ port: 80 }];

/** Specs about the deletion of objects that are no longer chained, and of no others. */
export function pruningSuite(open: OpenScene): void {
  it('the builder distinguishes a Service from a ConfigMap of the same name', async () => {
    const scene = await open();
    const both = scene
      .builder()
      .configMap({ name: 'web', data: {} })
      .service({ name: 'web', spec: { selector: {}, ports } });
    await both.reconcile();
    const results = await scene
      .builder()
      .service({ name: 'web', spec: { selector: {}, ports } })
      .reconcile();
    expect(summary(results)).to.deep.equal(['unchanged Service/web', 'deleted ConfigMap/web']);
    expect(await scene.find(Service, 'web')).not.to.equal(undefined);
  });

  it('the builder prunes the last object of a kind', async () => {
    const scene = await open();
    await scene.builder().configMap({ name: 'last', data: {} }).reconcile();
    expect(summary(await scene.builder().reconcile())).to.deep.equal(['deleted ConfigMap/last']);
  });

  it('the builder prunes Services, StatefulSets and NetworkPolicies', async () => {
    const scene = await open();
    const owns = [Service, StatefulSet, NetworkPolicy];
    await scene
      .builder({ owns })
      .service({ name: 'web', spec: { selector: {}, ports } })
      .statefulSet({ name: 'store', podSpec })
      .networkPolicy({ name: 'deny', spec: { podSelector: {} } })
      .reconcile();
    expect(summary(await scene.builder({ owns }).reconcile()).sort()).to.deep.equal([
      'deleted NetworkPolicy/deny',
      'deleted Service/web',
      'deleted StatefulSet/store',
    ]);
  });

  it('the builder keeps the objects of another owner, whatever their labels', async () => {
    const scene = await open();
    const labels = { app: 'shop' };
    const other = await newOwner(scene.admin, scene.namespace, 'other');
    const theirs = (): Builder =>
      scene
        .builder({ owner: other, labels: { ...labels } })
        .configMap({ name: 'theirs', data: {} });
    await theirs().reconcile();
    await scene.builder({ labels }).configMap({ name: 'ours', data: {} }).reconcile();
    expect(summary(await scene.builder({ labels }).reconcile())).to.deep.equal([
      'deleted ConfigMap/ours',
    ]);
    expect(summary(await theirs().reconcile())).to.deep.equal(['unchanged ConfigMap/theirs']);
  });

  it('the builder keeps a chained object although its reconcile method was not called', async () => {
    const scene = await open();
    const chain = (): Builder =>
      scene
        .builder()
        .configMap({ name: 'env', data: {} })
        .service({ name: 'web', spec: { selector: {}, ports } });
    await chain().reconcile();
    expect(summary(await chain().reconcileStore())).to.deep.equal([]);
    const store = await chain().store();
    expect(store.objectNameKind.get('web')).to.deep.equal(['Service']);
  });

  it('the builder keeps objects of the owner that the builder did not create', async () => {
    const scene = await open();
    const { apiVersion, kind, metadata } = scene.owner;
    const { name = '', uid = '' } = metadata;
    await scene.admin.create<ConfigMap>({
      ...{ apiVersion: 'v1', kind: 'ConfigMap' },
      metadata: {
        namespace: scene.namespace,
        name: 'not-of-the-builder',
        ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
      },
    });
    expect(summary(await scene.builder().reconcile())).to.deep.equal([]);
  });

  it('the builder keeps a claim that has the labels of the builder but another controller', async () => {
    const scene = await open();
    const other = await newOwner(scene.admin, scene.namespace, 'other');
    const { apiVersion, kind, metadata } = other;
    const { name = '', uid = '' } = metadata;
    await scene.admin.create<PersistentVolumeClaim>({
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
      metadata: {
        ...{ namespace: scene.namespace, name: 'theirs' },
        ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
        annotations: { 'operator-builder.io/prune': 'true' },
        labels: {
          'app.kubernetes.io/managed-by': controllerName,
          'operator-builder.io/owner-uid': scene.owner.metadata.uid ?? '',
        },
      },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    expect(summary(await scene.builder().reconcile())).to.deep.equal([]);
  });

  it('the builder reads an object again before its deletion if it has changed since it was listed', async () => {
    const scene = await open();
    await scene
      .builder()
      .configMap({ name: 'changed' })
      .configMap({ name: 'protected' })
      .reconcile();
    const inner = scene.operator.client;
    const client: Client = {
      ...forwarding(inner),
      // Another client writes between the list and the deletion.
      list: async (type, options) => {
        const found = await inner.list(type, options);
        if (type.kind !== 'ConfigMap') return found;
        const annotations = { 'operator-builder.io/prune': 'false' };
        await scene.edit(ConfigMap, 'changed', { body: { data: { by: 'somebody' } } });
        await scene.edit(ConfigMap, 'protected', { body: { metadata: { annotations } } });
        return found;
      },
    };
    const results = await scene.builder({ client }).reconcile();
    expect(summary(results).sort()).to.deep.equal([
      'deleted ConfigMap/changed',
      'pending ConfigMap/protected',
    ]);
    expect(await scene.find(ConfigMap, 'protected')).not.to.equal(undefined);
  });

  it('the builder keeps an object that another controller adopts just before its deletion', async () => {
    const scene = await open();
    await scene.builder().configMap({ name: 'env' }).reconcile();
    const inner = scene.operator.client;
    const client: Client = {
      ...forwarding(inner),
      list: async (type, options) => {
        const found = await inner.list(type, options);
        if (type.kind !== 'ConfigMap') return found;
        const theirs = scene.builder({ controllerName: 'other-operator' });
        await theirs.configMap({ name: 'env' }).reconcileConfigMap();
        return found;
      },
    };
    const [result] = await scene.builder({ client }).reconcile();
    expect(result).to.include({
      ...{ operation: 'pending', reason: 'changed while it was being pruned' },
    });
    expect(await scene.find(ConfigMap, 'env')).not.to.equal(undefined);
    expect(await scene.builder().reconcile()).to.deep.equal([]);
  });

  it('the builder prunes objects in the reverse order of their application', async () => {
    const scene = await open();
    const owns = [...usedKinds, Ingress];
    const defaultBackend = { service: { name: 'web', port: { number: 80 } } };
    await scene
      .builder({ owns })
      .configMap({ name: 'env' })
      .service({ name: 'web', spec: { ports } })
      .deployment({ name: 'web', podSpec })
      .ingress({ name: 'web', spec: { defaultBackend } })
      .reconcile();
    const fault = { type: 'error', status: 500, reason: 'InternalError' } as const;
    const rules = [{ fault, verbs: ['delete' as const], kinds: ['Deployment'] }];
    const client = faulty(scene.operator.client, { rules });
    const [error] = await errorsOf(scene.builder({ owns, client }));
    expect(error?.message).to.include('Deployment');
    await scene.writes();
    expect(await scene.find(Ingress, 'web')).to.equal(undefined);
    expect(await scene.find(Service, 'web')).not.to.equal(undefined);
    expect(await scene.find(ConfigMap, 'env')).not.to.equal(undefined);
    expect(summary(await scene.builder({ owns }).reconcile())[0]).to.equal(
      'deleted Deployment/web',
    );
    expect(await scene.find(ConfigMap, 'env')).to.equal(undefined);
  });

  it('the builder leaves an object pending that changes before each attempt to delete it, and prunes it in a later reconcile', async () => {
    const scene = await open();
    await scene.builder().configMap({ name: 'busy', data: {} }).reconcile();
    const inner = scene.operator.client;
    let changes = 0;
    const remove = (async (...call: Parameters<Client['delete']>) => {
      await scene.edit(ConfigMap, 'busy', { body: { data: { n: String(++changes) } } });
      return inner.delete(...call);
    }) as Client['delete'];
    const client: Client = { ...forwarding(inner), delete: remove };
    const [result] = await scene.builder({ client }).reconcile();
    expect(result).to.deep.include({
      ...{ operation: 'pending', reason: 'changes while it is being pruned' },
      requeueAfterMs: 1_000,
    });
    expect(changes).to.equal(3);
    expect(summary(await scene.builder().reconcile())).to.deep.equal(['deleted ConfigMap/busy']);
  });

  it('the builder prunes the kinds of the chain even if owns does not list them', async () => {
    const scene = await open();
    await scene.builder({ owns: [] }).secret({ name: 'one' }).reconcile();
    const results = await scene.builder({ owns: [] }).secret({ name: 'two' }).reconcile();
    expect(summary(results)).to.deep.equal(['created Secret/two', 'deleted Secret/one']);
  });

  it('the builder keeps an object with prune: false in the chain or in an annotation', async () => {
    const scene = await open();
    await scene
      .builder()
      .configMap({ name: 'by-chain', data: {}, prune: false })
      .configMap({ name: 'by-hand', data: {} })
      .configMap({ name: 'by-nobody', data: {} })
      .reconcile();
    const annotations = { 'operator-builder.io/prune': 'false' };
    await scene.edit(ConfigMap, 'by-hand', { body: { metadata: { annotations } } });
    expect(summary(await scene.builder().reconcile())).to.deep.equal([
      'deleted ConfigMap/by-nobody',
    ]);
  });

  it('the builder refuses to delete more than maxDeletions and lists the objects that it would delete', async () => {
    const scene = await open();
    const names = Array.from({ length: 12 }, (_, index) => `env-${index}`);
    const add = (chain: Builder, name: string): Builder => chain.configMap({ name, data: {} });
    await names.reduce<Builder>(add, scene.builder()).reconcile();
    await scene.writes();
    const byDefault = { maxDeletions: undefined };
    const [error] = await errorsOf(
      names.slice(0, 5).reduce<Builder>(add, scene.builder(byDefault)),
    );
    expect(error?.code).to.equal('TooManyDeletions');
    expect(error?.message).to.match(/would delete 7 of 12 objects, and maxDeletions allows 6/);
    expect(error?.message).to.include('env-11');
    expect(scene.events.map(({ reason }) => reason)).to.include('TooManyDeletions');
    expect(await scene.writes()).to.deep.equal([]);
    const allowed = names.slice(0, 5).reduce<Builder>(add, scene.builder({ maxDeletions: 7 }));
    const results = await allowed.reconcile();
    expect(results.filter(({ operation }) => operation === 'deleted')).to.have.length(7);
  });

  it('the builder deletes nothing by default if it would delete all owned objects', async () => {
    const scene = await open();
    const byDefault = { maxDeletions: undefined };
    const chain = (...names: readonly string[]): Builder =>
      names.reduce<Builder>((links, name) => links.configMap({ name }), scene.builder(byDefault));
    await chain('one', 'two').reconcile();
    await scene.writes();
    const { objects } = await chain().plan();
    expect(objects.map(({ error }) => error?.code)).to.deep.equal(['TooManyDeletions']);
    const failure = await chain()
      .reconcile()
      .catch((error: unknown) => error);
    if (!isReconcileFailed(failure)) throw failure;
    const [error] = failure.errors;
    expect(error?.code).to.equal('TooManyDeletions');
    expect(error?.message).to.include('2 of 2 objects, and none of its objects is desired');
    expect(failure.terminal, 'no retry can help').to.equal(true);
    expect(await scene.writes()).to.deep.equal([]);
    // The chain has a new object, so the builder may delete the other two.
    const renamed = await chain('three').plan();
    expect(renamed.objects.map(({ action }) => action)).to.deep.equal(['create', 'prune', 'prune']);
    expect(summary(await chain('three').reconcile()).sort()).to.deep.equal([
      'created ConfigMap/three',
      'deleted ConfigMap/one',
      'deleted ConfigMap/two',
    ]);
  });

  it('the builder includes new objects in the number to which maxDeletions refers, also in a plan', async () => {
    const scene = await open();
    const chain = (prefix: string, maxDeletions?: '40%'): Builder =>
      Array.from({ length: 12 }, (_, index) => `${prefix}-${index}`).reduce<Builder>(
        (links, name) => links.configMap({ name, data: {} }),
        scene.builder({ maxDeletions }),
      );
    await chain('one').reconcile();
    const renamed = await chain('two').plan();
    expect(renamed.objects.filter(({ action }) => action === 'prune')).to.have.lengthOf(12);
    const results = await chain('two').reconcile();
    expect(results.filter(({ operation }) => operation === 'deleted')).to.have.lengthOf(12);
    const fails = await chain('three', '40%').plan();
    const [error] = await errorsOf(chain('three', '40%'));
    expect(error?.message).to.include('would delete 12 of 24 objects, and maxDeletions allows 9');
    expect(fails.objects.flatMap((each) => each.error?.message ?? [])).to.deep.equal([
      error?.message,
    ]);
  });

  it('the builder deletes more objects than maxDeletions allows if an annotation on the owner names its current generation', async () => {
    const scene = await open();
    const { namespace } = scene;
    scene.owner = await scene.admin.create<NetworkPolicy>({
      ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
      ...{ metadata: { namespace, name: 'owner' }, spec: { podSelector: {} } },
    });
    const byDefault = { maxDeletions: undefined };
    const annotated = async (value: string): Promise<void> => {
      const annotations = { 'operator-builder.io/allow-deletions': value };
      await scene.edit(NetworkPolicy, 'owner', { body: { metadata: { annotations } } });
      scene.owner = await scene.get(NetworkPolicy, 'owner');
    };
    await scene
      .builder(byDefault)
      .configMap({ name: 'one' })
      .configMap({ name: 'two' })
      .reconcile();
    const [error] = await errorsOf(scene.builder(byDefault));
    expect(error?.message).to.include(
      `set the annotation operator-builder.io/allow-deletions: "1" on NetworkPolicy ${namespace}/owner`,
    );
    await annotated('2');
    const [still] = await errorsOf(scene.builder(byDefault));
    expect(still?.code).to.equal('TooManyDeletions');
    await annotated('1');
    expect(summary(await scene.builder(byDefault).reconcile()).sort()).to.deep.equal([
      'deleted ConfigMap/one',
      'deleted ConfigMap/two',
    ]);
  });

  it('the builder prunes an object whose labels were removed', async () => {
    const scene = await open();
    await scene.builder().configMap({ name: 'env', data: {} }).reconcile();
    await scene.edit(ConfigMap, 'env', { body: { metadata: { labels: null } } });
    expect(summary(await scene.builder().reconcile())).to.deep.equal(['deleted ConfigMap/env']);
  });

  it('the builder prunes only objects that have the scope of the builder', async () => {
    const scene = await open();
    const chain = (scope: string | undefined, ...names: readonly string[]): Builder =>
      names.reduce<Builder>((links, name) => links.configMap({ name }), scene.builder({ scope }));
    await chain('web', 'web-1', 'web-2').reconcile();
    await chain('data', 'data-1').reconcile();
    await chain(undefined, 'rest').reconcile();
    const { labels } = (await scene.get(ConfigMap, 'web-1')).metadata;
    expect(labels).to.have.property('operator-builder.io/scope', 'web');
    expect(summary(await chain('web', 'web-1').reconcile())).to.deep.equal([
      'unchanged ConfigMap/web-1',
      'deleted ConfigMap/web-2',
    ]);
    expect(summary(await chain('data').reconcile())).to.deep.equal(['deleted ConfigMap/data-1']);
    expect(summary(await chain(undefined).reconcile())).to.deep.equal(['deleted ConfigMap/rest']);
    expect(await scene.find(ConfigMap, 'web-1')).not.to.equal(undefined);
  });

  it('the builder lists a kind only occasionally if owns is absent and the owner has no objects of the kind', async () => {
    const scene = await open();
    const { owner, operator } = scene;
    const chain = (): Builder =>
      new Builder({ client: forwarding(operator.client), owner, controllerName })
        .configMap({ name: 'env' })
        .secret({ name: 'token' });
    await chain().reconcile();
    await operator.requests();
    await chain().reconcile();
    const listed = await operator.requests();
    const lists = listed.filter(({ verb }) => verb === 'list').map(({ resource }) => resource);
    expect(lists.sort()).to.deep.equal(['configmaps', 'secrets']);
    // The builder also deletes objects of a kind that no longer has a link.
    const results = await new Builder({ client: operator.client, owner, controllerName })
      .configMap({ name: 'env' })
      .reconcile();
    expect(summary(results)).to.deep.equal(['unchanged ConfigMap/env', 'deleted Secret/token']);
  });

  it('the builder deletes nothing with maxDeletions: 0', async () => {
    const scene = await open();
    await scene.builder().configMap({ name: 'env', data: {} }).reconcile();
    const refused = await scene
      .builder({ maxDeletions: 0 })
      .reconcileStore()
      .catch((error: unknown) => error as OperatorError);
    expect(refused).to.have.property('code', 'TooManyDeletions');
  });

  it('the builder skips kinds that RBAC forbids it to list, and reports them once', async () => {
    const scene = await open();
    await scene
      .builder()
      .configMap({ name: 'env', data: {} })
      .service({ name: 'web', spec: { selector: {}, ports } })
      .reconcile();
    const fault = { type: 'error', status: 403, reason: 'Forbidden' } as const;
    const kinds = ['Secret', 'Deployment'];
    const client = faulty(scene.operator.client, { rules: [{ fault, verbs: ['list'], kinds }] });
    scene.events.length = 0;
    const results = await scene.builder({ client }).reconcile();
    expect(summary(results).sort()).to.deep.equal(['deleted ConfigMap/env', 'deleted Service/web']);
    const reports = scene.events.filter(({ reason }) => reason === 'PruneForbidden');
    expect(reports).to.have.length(1);
    expect(reports[0]?.note).to.include('deployments, secrets');
  });

  it('the builder prunes every kind that has a method if owns is absent', async () => {
    const scene = await open();
    const { owner } = scene;
    const client = forwarding(scene.operator.client);
    const everywhere = { client, owner, controllerName, maxDeletions: 5 };
    await new Builder(everywhere)
      .networkPolicy({ name: 'deny', spec: { podSelector: {} } })
      .secret({ name: 'token' })
      .reconcile();
    const results = await new Builder(everywhere).reconcile();
    expect(summary(results).sort()).to.deep.equal([
      'deleted NetworkPolicy/deny',
      'deleted Secret/token',
    ]);
    expect(await scene.find(Secret, 'token')).to.equal(undefined);
  });

  it('the builder prunes a workload together with its pods', async () => {
    const scene = await open();
    const chain = (): Builder => scene.builder().deployment({ name: 'web', podSpec });
    await scene.reconcileUntilDone(chain);
    expect(summary(await scene.builder().reconcile())).to.deep.equal(['deleted Deployment/web']);
    await scene.target.eventually(async () => {
      expect(await scene.find(Deployment, 'web')).to.equal(undefined);
      const pods = await scene.admin.list(
        { apiVersion: 'v1', kind: 'Pod' },
        { namespace: scene.namespace },
      );
      expect(pods.items).to.deep.equal([]);
    });
  });
}
