import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import type { ObjectResult } from '../../../lib/apply/index.js';
import type { Builder, BuilderOptions } from '../../../lib/builder/index.js';
import type { Client } from '../../../lib/client/index.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import { ConfigMap, Secret, StatefulSet } from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import type { OpenScene } from './builder-suite.js';
import { newOwner, podSpec, summary, usedKinds, withCache } from './scene.js';
import type { Scene } from './scene.js';

const names = ['env'];

/** An owner in a cache, with a chain that is reconciled for it repeatedly. */
class Watched {
  readonly scene: Scene;
  readonly close: () => Promise<void>;
  /** Reads of the builder through the client, without direct lookups in the cache. */
  reads: string[] = [];
  /** The objects that the builder has applied, as the server answered. */
  readonly applied: WeakRef<KubernetesObject>[] = [];
  readonly cached: Client;
  readonly #client: Client;

  private constructor(scene: Scene, cached: Client, close: () => Promise<void>) {
    this.scene = scene;
    this.close = close;
    this.cached = cached;
    this.#client = {
      ...cached,
      get: (type, key, options) => {
        this.reads.push(`get ${type.kind}`);
        return cached.get(type, key, options);
      },
      apply: async (object, options) => {
        const applied = await cached.apply(object, options);
        this.applied.push(new WeakRef(applied.object));
        return applied;
      },
      list: (type, options) => {
        this.reads.push(`list ${type.kind}`);
        return cached.list(type, options);
      },
    };
  }

  static async open(open: OpenScene): Promise<Watched> {
    const scene = await open();
    const { client, stop } = await withCache(scene.operator.client, usedKinds);
    return new Watched(scene, client, stop);
  }

  async reconcile(
    options: Partial<BuilderOptions> = {},
    chain: (builder: Builder) => Builder = chainOf,
  ): Promise<readonly ObjectResult[]> {
    const { namespace, target } = this.scene;
    // The cache may receive the owner after all other objects.
    const owner = await target.eventually(() =>
      this.cached.get(ConfigMap, { namespace, name: 'shop' }),
    );
    this.reads = [];
    return chain(this.scene.builder({ client: this.#client, owner, ...options })).reconcile();
  }

  /** Reconciles until nothing is left to do and a reconcile sends no reads. */
  settle(...how: Parameters<Watched['reconcile']>): Promise<readonly ObjectResult[]> {
    return this.scene.target.eventually(async () => {
      const results = await this.reconcile(...how);
      expect(this.reads).to.deep.equal([]);
      return results;
    });
  }

  /** Creates an owner, reconciles its object until nothing is left to do, and deletes both. */
  async comeAndGo(name: string): Promise<void> {
    const { admin, namespace, target } = this.scene;
    const key = { namespace, name: `env-of-${name}` };
    await newOwner(admin, namespace, name);
    const owner = await target.eventually(() => this.cached.get(ConfigMap, { namespace, name }));
    await this.settle({ owner }, (builder) => builder.configMap({ name: key.name }));
    for (const each of [{ namespace, name }, key]) {
      // The garbage collector may have deleted the object already.
      await admin.delete(ConfigMap, each).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
      await target.eventually(async () => {
        const error: unknown = await this.cached.get(ConfigMap, each).catch((e: unknown) => e);
        expect(isNotFound(error)).to.equal(true);
      });
    }
  }

  /** Reconciles until the results include `what`. */
  expectDone(what: string, ...how: Parameters<Watched['reconcile']>): Promise<void> {
    return this.scene.target.eventually(async () => {
      expect(summary(await this.reconcile(...how))).to.include(what);
    });
  }
}

function chainOf(builder: Builder, level = 'info', all: readonly string[] = names): Builder {
  let chain = builder;
  for (const name of all) chain = chain.configMap({ name, data: { level } });
  return chain.statefulSet({
    ...{ name: 'server', replicas: 0, podSpec, rolloutOn: all, followReferences: true },
  });
}

/** Returns a chain whose pods read a Secret that is not in the chain. */
function followingChain(builder: Builder): Builder {
  const envFrom = [{ secretRef: { name: 'token' } }];
  const [container] = podSpec.containers;
  const containers = [{ name: 'web', image: '', ...container, envFrom }];
  return builder.statefulSet({
    ...{ name: 'server', replicas: 0, podSpec: { containers }, followReferences: true },
  });
}

/** Specs about the changes that a repeated reconcile must not miss. */
export function settledSuite(open: OpenScene): void {
  let watched: Watched;
  beforeEach(async () => {
    watched = await Watched.open(open);
  });
  afterEach(() => watched.close());

  it('the builder sends no request if nothing has changed, and returns the same results', async () => {
    const before = await watched.settle();
    await watched.scene.writes();
    const told: ObjectResult[] = [];
    const results = await watched.reconcile({ onResult: (result) => told.push(result) });
    expect(results).to.deep.equal(before);
    expect(told).to.deep.equal(before);
    expect(summary(results)).to.deep.equal([
      'unchanged ConfigMap/env',
      'unchanged StatefulSet/server',
    ]);
    expect(watched.reads).to.deep.equal([]);
    expect(await watched.scene.writes()).to.deep.equal([]);
  });

  it('the builder sends no read after a reconcile with writes if nothing has changed since', async () => {
    await watched.settle();
    const debug = (builder: Builder): Builder => chainOf(builder, 'debug');
    const written = summary(await watched.reconcile({}, debug));
    expect(written).to.deep.equal(['configured ConfigMap/env', 'configured StatefulSet/server']);
    const again = summary(await watched.reconcile({}, debug));
    expect(watched.reads).to.deep.equal([]);
    expect(again).to.deep.equal(['unchanged ConfigMap/env', 'unchanged StatefulSet/server']);
  });

  it('the builder repairs a change that another client makes right after a write of the builder', async () => {
    await watched.settle();
    const debug = (builder: Builder): Builder => chainOf(builder, 'debug');
    await watched.reconcile({}, debug);
    await watched.scene.edit(ConfigMap, 'env', { body: { data: { level: 'off' } } });
    await watched.expectDone('configured ConfigMap/env', {}, debug);
  });

  it('the builder applies a changed option of a link', async () => {
    await watched.settle();
    const results = await watched.reconcile({}, (builder) => chainOf(builder, 'debug'));
    expect(summary(results)).to.include('configured ConfigMap/env');
  });

  it('the builder applies a changed option of the builder', async () => {
    await watched.settle();
    const results = await watched.reconcile({ labels: { team: 'blue' } });
    expect(summary(results)).to.include('configured ConfigMap/env');
  });

  it('the builder repairs a changed field', async () => {
    await watched.settle();
    await watched.scene.edit(ConfigMap, 'env', { body: { data: { level: 'off' } } });
    await watched.expectDone('configured ConfigMap/env');
  });

  it('the builder applies a field again after another manager has taken it over', async () => {
    await watched.settle();
    const live = await watched.scene.get(ConfigMap, 'env');
    await watched.scene.admin.apply(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: named(live), data: { level: 'off' } },
      { fieldManager: 'thief', force: true },
    );
    await watched.expectDone('configured ConfigMap/env');
  });

  it('the builder creates a deleted object again', async () => {
    await watched.settle();
    const { admin, namespace } = watched.scene;
    await admin.delete(ConfigMap, { namespace, name: 'env' });
    await watched.expectDone('created ConfigMap/env');
  });

  it('the builder rolls pods when a Secret outside the chain is created or changes', async () => {
    await watched.settle({}, followingChain);
    const { admin, namespace } = watched.scene;
    const metadata = { name: 'token', namespace };
    await admin.create<Secret>({ apiVersion: 'v1', kind: 'Secret', metadata });
    await watched.expectDone('configured StatefulSet/server', {}, followingChain);
    await watched.settle({}, followingChain);
    await watched.scene.edit(Secret, 'token', { body: { data: { key: 'bmV3' } } });
    await watched.expectDone('configured StatefulSet/server', {}, followingChain);
  });

  it('the builder reports a rollout until it is complete', async () => {
    await watched.settle();
    const body = { spec: { replicas: 0, minReadySeconds: 7 } };
    await watched.scene.edit(StatefulSet, 'server', { body });
    const { generation = 0 } = (await watched.scene.get(StatefulSet, 'server')).metadata;
    const rolled: ObjectResult[] = [];
    await watched.scene.target.eventually(async () => {
      rolled.push(...(await watched.reconcile()));
      const { status } = await watched.scene.get(StatefulSet, 'server');
      expect(status?.observedGeneration).to.be.at.least(generation);
    });
    expect(rolled.filter(({ ref }) => ref.kind === 'StatefulSet')).not.to.be.empty;
    expect((await watched.settle()).at(-1)?.rollout?.state).to.equal('complete');
  });

  it('the builder sends no read if only the status of a workload changed', async () => {
    await watched.settle();
    const { admin, namespace } = watched.scene;
    const body = { status: { replicas: 0, collisionCount: 7 } };
    const key = { namespace, name: 'server' };
    await admin.patch(StatefulSet, key, { type: 'merge', body }, { subresource: 'status' });
    await watched.scene.target.eventually(async () => {
      const { status } = await watched.cached.get(StatefulSet, key);
      expect(status?.collisionCount).to.equal(7);
    });
    const [, server] = await watched.reconcile();
    expect(watched.reads).to.deep.equal([]);
    expect(server?.rollout?.state).to.equal('complete');
  });

  it('the builder repairs a label of a workload although its change leaves the generation the same', async () => {
    await watched.settle();
    const labels = { 'app.kubernetes.io/name': 'stolen' };
    await watched.scene.edit(StatefulSet, 'server', { body: { metadata: { labels } } });
    await watched.expectDone('configured StatefulSet/server');
  });

  it('the builder sends no read if only the owner changed, and the chain is the same', async () => {
    await watched.settle();
    await watched.scene.edit(ConfigMap, 'shop', { body: { data: { note: 'changed' } } });
    await watched.scene.target.eventually(async () => {
      const { namespace } = watched.scene;
      const { data } = await watched.cached.get(ConfigMap, { namespace, name: 'shop' });
      expect(data?.['note']).to.equal('changed');
    });
    await watched.reconcile();
    expect(watched.reads).to.deep.equal([]);
  });

  it('the builder keeps no object in memory after its owner is gone', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    for (const name of ['a', 'b', 'c', 'd']) await watched.comeAndGo(name);
    const objects = watched.applied.splice(0);
    await watched.settle();
    await new Promise(setImmediate);
    collect();
    expect(objects).to.have.length(4);
    expect(objects.filter((each) => each.deref() !== undefined)).to.have.length(0);
  });

  it('the builder prunes an object that another process created for the owner', async () => {
    await watched.settle();
    const elsewhere = watched.scene.builder().configMap({ name: 'other' });
    await elsewhere.reconcileConfigMap();
    await watched.expectDone('deleted ConfigMap/other');
  });

  it('the builder prunes an object that is no longer chained', async () => {
    const more = (builder: Builder): Builder => chainOf(builder, 'info', ['env', 'more']);
    await watched.settle({}, more);
    await watched.expectDone('deleted ConfigMap/more');
  });

  it('the builder reports in each reconcile that an object is pending', async () => {
    const { admin, namespace } = watched.scene;
    const metadata = { name: 'env', namespace, finalizers: ['example.com/wait'] };
    await watched.settle();
    await admin.apply<ConfigMap>(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata },
      { fieldManager: 'waiter' },
    );
    await admin.delete(ConfigMap, { namespace, name: 'env' });
    await watched.expectDone('pending ConfigMap/env');
    expect(summary(await watched.reconcile())).to.include('pending ConfigMap/env');
  });

  it('the builder writes nothing for an owner that is being deleted', async () => {
    await watched.settle();
    const { admin, namespace } = watched.scene;
    const key = { namespace, name: 'shop' };
    const body = { metadata: { finalizers: ['example.com/wait'] } };
    await admin.patch(ConfigMap, key, { type: 'merge', body });
    await admin.delete(ConfigMap, key);
    await watched.scene.target.eventually(async () => {
      expect(await watched.reconcile()).to.deep.equal([]);
    });
    await admin.patch(ConfigMap, key, { type: 'merge', body: { metadata: { finalizers: null } } });
  });
}

function named({ metadata: { name, namespace } }: ConfigMap): ConfigMap['metadata'] {
  return { ...(name !== undefined && { name }), ...(namespace !== undefined && { namespace }) };
}
