import { expect } from 'chai';
import { forwarding } from '../../../lib/client/client-wrappers.js';
import { ensureCrd } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { createCrd } from '../../../lib/lifecycle/index.js';
import { ApiError } from '../../../lib/object/api-error.js';
import type {
  KubernetesObject,
  UnstructuredObject,
} from '../../../lib/object/kubernetes-object.js';
import { OperatorError } from '../../../lib/system/operator-error.js';
import { systemRandom } from '../../../lib/system/random.js';
import { configMap, system } from './system.js';
import type { OpenStage, Stage } from './stage.js';

const pruneAnnotation = 'operator-builder.io/prune';

/**
 * Declares that users' objects, and objects that hold their data, are neither adopted nor pruned.
 */
export function guardingSuite(open: OpenStage): void {
  it('the reconciler keeps an object that is no longer desired if its annotation forbids pruning', async () => {
    const stage = await open();
    await withOld(stage, [configMap(stage.namespace, 'old')]);
    await stage.touch('ConfigMap', 'old', {
      metadata: { annotations: { [pruneAnnotation]: 'false' } },
    });
    stage.resources = () => [configMap(stage.namespace)];
    await stage.deploy('1.0.0');
    await stage.deploy('1.1.0');
    expect(await stage.isGone('ConfigMap', 'old')).to.equal(false);
    expect(await refusal(stage)).to.equal(undefined);
  });

  it('the reconciler deletes an object only in the version that the cache contains, and decides again if the object has changed', async () => {
    const stage = await open();
    await withOld(stage, [configMap(stage.namespace, 'old')]);
    stage.resources = () => [configMap(stage.namespace)];
    const behind = await lagging(stage);
    await stage.touch('ConfigMap', 'old', {
      metadata: { annotations: { [pruneAnnotation]: 'false' } },
    });
    const seen = await stage.pass('1.0.0', stage.newReconciler({ client: behind }));
    expect(seen.error).to.match(/409 Conflict/);
    expect(seen.events).to.deep.equal([]);
    await stage.pass('1.0.0');
    expect(await stage.isGone('ConfigMap', 'old')).to.equal(false);
  });

  it('the reconciler deletes nothing after the signal is aborted', async () => {
    const stage = await open();
    const { namespace } = stage;
    await withOld(stage, [configMap(namespace, 'old'), configMap(namespace, 'older')]);
    stage.resources = () => [configMap(namespace)];
    const { client } = stage.operator;
    const ending = new AbortController();
    let deletions = 0;
    const remove: Client['delete'] = async (type, key, options) => {
      deletions++;
      ending.abort(new Error('the operator ends'));
      return client.delete(type, key, { ...options, signal: undefined });
    };
    const reconciler = stage.newReconciler({ client: { ...forwarding(client), delete: remove } });
    const request = { key: stage.key, signal: ending.signal };
    const error: unknown = await reconciler
      .reconcile(request, '1.0.0')
      .catch((one: unknown) => one);
    expect(String(error)).to.match(/the operator ends/);
    expect(deletions).to.equal(1);
  });

  it('the reconciler writes nothing after the signal is aborted', async () => {
    const stage = await open();
    const { namespace } = stage;
    stage.resources = () => [configMap(namespace, 'one'), configMap(namespace, 'two')];
    const { client } = stage.operator;
    const ending = new AbortController();
    const written: string[] = [];
    const wrote = ({ metadata }: KubernetesObject): void => {
      written.push(metadata.name ?? '');
      ending.abort(new Error('the operator ends'));
    };
    const create: Client['create'] = (object, options) => {
      wrote(object);
      return client.create(object, { ...options, signal: undefined });
    };
    const apply: Client['apply'] = (object, options) => {
      wrote(object);
      return client.apply(object, { ...options, signal: undefined });
    };
    const reconciler = stage.newReconciler({ client: { ...forwarding(client), create, apply } });
    const error: unknown = await reconciler
      .reconcile({ key: stage.key, signal: ending.signal }, '1.0.0')
      .catch((one: unknown) => one);
    expect(String(error)).to.match(/the operator ends/);
    expect(written).to.deep.equal(['one']);
  });

  const claim = (namespace: string): UnstructuredObject => ({
    ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'old', namespace } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  const holders: Record<string, (stage: Stage) => UnstructuredObject> = {
    CustomResourceDefinition: () => {
      const kind = `Held${systemRandom.uuid().slice(0, 8)}`;
      return createCrd({ group: 'held.example.com', kind });
    },
    Namespace: ({ namespace }) => ({
      ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${namespace}-old` } },
    }),
    PersistentVolumeClaim: ({ namespace }) => claim(namespace),
  };
  for (const [kind, make] of Object.entries(holders)) {
    it(`the reconciler keeps a ${kind} until pruning is allowed, and names it in a condition and one event`, async () => {
      const stage = await open();
      const holder = make(stage);
      const { apiVersion, metadata } = holder;
      const { name = '', namespace } = metadata;
      const key = { name, ...(namespace !== undefined && { namespace }) };
      const type = { apiVersion, kind };
      stage.dependants = [...stage.dependants, type];
      await withOld(stage, [holder]);
      stage.resources = () => [configMap(stage.namespace)];
      const events: string[] = [];
      await stage.target.eventually(async () => {
        const seen = await stage.pass('1.1.0');
        events.push(...seen.events);
        expect(seen.phase).to.equal('Deployed');
      });
      expect(events).to.deep.equal(['UpgradeStarted', 'PruneRefused', 'DeployCompleted']);
      expect(await refusal(stage))
        .to.include(`${kind} `)
        .and.include(name);
      expect((await stage.pass('1.1.0')).events).to.deep.equal([]);
      const { uid } = (await stage.admin.get(type, key)).metadata;
      expect(uid).to.be.a('string');
      const body = { metadata: { annotations: { [pruneAnnotation]: 'true' } } };
      await stage.admin.patch(type, key, { type: 'merge', body });
      await stage.target.eventually(async () => {
        await stage.pass('1.1.0');
        expect(await refusal(stage)).to.equal(undefined);
        const { items } = await stage.admin.list(type);
        const left = items.filter((item) => item.metadata.uid === uid);
        // An object may stay in deletion, because the embedded server has no controller for its protection finalizer.
        for (const item of left) expect(item.metadata.deletionTimestamp).to.be.a('string');
      });
    });
  }

  it('the reconciler no longer reports an object that may not be pruned when the configuration is being deleted', async () => {
    const stage = await open();
    stage.dependants = [...stage.dependants, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' }];
    await withOld(stage, [claim(stage.namespace)]);
    stage.resources = () => [configMap(stage.namespace)];
    await stage.deploy('1.1.0');
    expect(await refusal(stage)).to.include('PersistentVolumeClaim');
    await stage.touch('PersistentVolumeClaim', 'old', {
      metadata: { finalizers: ['example.com/held'] },
    });
    await stage.delete();
    expect((await stage.pass('1.1.0')).phase).to.equal('Deleting');
    expect(await refusal(stage)).to.equal(undefined);
    await stage.touch('PersistentVolumeClaim', 'old', { metadata: { finalizers: null } });
  });

  it('a configuration is not Deployed while the server does not serve a kind whose CRD is among its objects', async () => {
    const stage = await open();
    const kind = `Late${systemRandom.uuid().slice(0, 8)}`;
    const late = { apiVersion: 'late.example.com/v1alpha1', kind, metadata: { name: 'late' } };
    stage.resources = () => [createCrd({ group: 'late.example.com', kind }), { ...late, spec: {} }];
    const { client } = stage.operator;
    const resourceType: Client['resourceType'] = async (type) => {
      if (type.kind === kind) throw new OperatorError('UnknownKind', `${kind} is not served`);
      return client.resourceType(type);
    };
    const behind = stage.newReconciler({ client: { ...forwarding(client), resourceType } });
    for (let pass = 0; pass < 3; pass++) {
      expect(await stage.pass('1.0.0', behind)).to.include({ phase: 'Deploying' });
    }
    await stage.deploy('1.0.0');
  });

  it('the reconciler prunes an object if mayPrune returns true for it, although it lacks the annotation', async () => {
    const stage = await open({ mayPrune: ({ kind }) => kind === 'PersistentVolumeClaim' });
    stage.dependants = [...stage.dependants, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' }];
    await withOld(stage, [claim(stage.namespace)]);
    stage.resources = () => [configMap(stage.namespace)];
    await stage.target.eventually(async () => {
      await stage.pass('1.0.0');
      const left = await stage.isGone('PersistentVolumeClaim', 'old');
      if (left) return;
      const { metadata } = await stage.get('PersistentVolumeClaim', 'old');
      expect(metadata.deletionTimestamp).to.be.a('string');
    });
    expect(await refusal(stage)).to.equal(undefined);
  });

  for (const orphans of ['wait', 'adopt'] as const) {
    it(`the reconciler does not take over a user's object that the cache has not seen yet (orphans: ${orphans})`, async () => {
      const stage = await open({ orphans });
      const theirs = { ...configMap(stage.namespace), data: { password: 'theirs' } };
      stage.resources = () => [configMap(stage.namespace)];
      await stage.admin.create(theirs);
      const before = await stage.get('ConfigMap', 'settings');
      const client = await unseen(stage, 'ConfigMap');
      const seen = await stage.pass('1.0.0', stage.newReconciler({ client, orphans }));
      expect(seen.error).to.match(/409 AlreadyExists/);
      expect(await stage.get('ConfigMap', 'settings')).to.deep.equal(before);
    });
  }

  it('the reconciler updates an object that another replica of the operator has created at the same time', async () => {
    const stage = await open();
    stage.resources = () => [configMap(stage.namespace)];
    const { client } = stage.operator;
    let isFirst = true;
    const create: Client['create'] = async (object, options) => {
      if (isFirst) await client.create(object);
      isFirst = false;
      return client.create(object, options);
    };
    const late = stage.newReconciler({ client: { ...forwarding(client), create } });
    const seen = await stage.pass('1.0.0', late);
    expect(isFirst).to.equal(false);
    expect(seen).to.deep.include({ phase: 'Deploying', conditions: 'F/T/F DeployStarted' });
    expect(seen.events).to.deep.equal(['DeployStarted']);
    expect(seen).not.to.have.property('error');
    expect(await stage.pass('1.0.0', late)).to.include({ phase: 'Deployed' });
  });

  it('the reconciler deletes the objects of a configuration even if the cache had not seen them before the deletion', async () => {
    const stage = await open();
    stage.resources = () => system(stage.namespace);
    await stage.deploy('1.0.0');
    const client = await unseen(stage, 'Service');
    await stage.delete();
    await stage.target.eventually(async () => {
      await stage.pass('1.0.0', stage.newReconciler({ client }));
      expect(await stage.exists()).to.equal(false);
    });
    expect(await stage.isGone('Service', 'web')).to.equal(true);
  });

  it('the reconciler waits for a kind whose CRD is among the objects, and names the objects of this kind that wait', async () => {
    const stage = await open();
    const kind = `Late${systemRandom.uuid().slice(0, 8)}`;
    const crd = createCrd({ group: 'late.example.com', kind });
    const late = { apiVersion: 'late.example.com/v1alpha1', kind, metadata: { name: 'late' } };
    stage.resources = () => [{ ...late, spec: {} }, crd];
    await stage.pass('1.0.0');
    const { conditions = [] } = await stage.status();
    const { message } = conditions.find(({ type }) => type === 'Progressing') ?? {};
    expect(message).to.equal(
      `deployment of 1.0.0 has begun; waiting for ${kind} late: its kind to be served`,
    );
    await ensureCrd(stage.admin, crd, { clock: stage.target.clock });
    await stage.deploy('1.0.0');
  });
}

/** Deploys the desired objects together with `old`. */
async function withOld(stage: Stage, old: readonly UnstructuredObject[]): Promise<void> {
  stage.resources = () => [...old, configMap(stage.namespace)];
  await stage.deploy('1.0.0');
}

async function refusal(stage: Stage): Promise<string | undefined> {
  const { conditions = [] } = await stage.status();
  return conditions.find(({ type }) => type === 'PruneRefused')?.message;
}

/** Returns a client whose lists of ConfigMaps no longer change, like those of a cache without events. */
async function lagging(stage: Stage): Promise<Client> {
  const { client } = stage.operator;
  const { namespace } = stage;
  const cached = await client.list({ apiVersion: 'v1', kind: 'ConfigMap' }, { namespace });
  const list: Client['list'] = async (type, options) =>
    type.kind === 'ConfigMap' ? (cached as never) : client.list(type, options);
  return Object.assign({ ...forwarding(client), list }, { live: client });
}

/** Returns a client whose lists of a kind are empty, like those of a cache that has no object of the kind yet. */
async function unseen(stage: Stage, kind: string): Promise<Client> {
  const { client } = stage.operator;
  const missing = await client
    .get({ apiVersion: 'v1', kind: 'ConfigMap' }, { name: 'none', namespace: stage.namespace })
    .catch((error: unknown) => error);
  if (!(missing instanceof ApiError)) throw new Error('want a NotFound');
  const get: Client['get'] = async (type, key, options) => {
    if (type.kind === kind) throw missing;
    return client.get(type, key, options);
  };
  return Object.assign({ ...forwarding(client), get }, { live: client });
}
