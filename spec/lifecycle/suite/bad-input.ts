import { expect } from 'chai';
import { forwarding } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { createCrd } from '../../../lib/lifecycle/index.js';
import type { PersistentVolumeClaim } from '../../../lib/object/kinds.js';
import { ApiError } from '../../../lib/object/api-error.js';
import { deepFreeze } from '../../../lib/object/deep-freeze.js';
import { systemRandom } from '../../../lib/system/random.js';
import { LocalConfig } from './stage.js';
import { configMap, deployment, system } from './system.js';
import type { OpenStage, Stage } from './stage.js';

/** Declares that each mistake causes a condition and an event, but no partial work and no repeated writes. */
export function badInputSuite(open: OpenStage): void {
  const anything = (): unknown => undefined;
  const controller = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x', controller: true };
  const controlled = { ownerReferences: [controller] };
  const circle = (): unknown => {
    const data: Record<string, unknown> = {};
    data['self'] = data;
    return [{ ...configMap('x'), data }];
  };
  const lists: Record<string, readonly [() => unknown, RegExp]> = {
    'no list': [anything, /getAllResources returned undefined: want a list/],
    'null for a list': [() => null, /getAllResources returned null: want a list/],
    'no object': [() => [null, 7], /object 1 is null; getAllResources: object 2 is number/],
    'no kind': [() => [{ apiVersion: 'v1', metadata: { name: 'x' } }], /object 1 has no kind/],
    'no apiVersion': [() => [{ kind: 'Secret', metadata: { name: 'x' } }], /has no apiVersion/],
    'no name': [
      () => [{ apiVersion: 'v1', kind: 'Secret', metadata: {} }],
      /object 1, a Secret, has no name/,
    ],
    'no metadata': [() => [{ apiVersion: 'v1', kind: 'Secret' }], /a Secret, has no name/],
    'no namespace': [
      () => [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } }],
      /Secret x has no namespace/,
    ],
    'a duplicate object': [
      () => [configMap('x'), configMap('x')],
      /is desired twice: leave one out/,
    ],
    'an object of another controller': [
      () => [{ ...configMap('x'), metadata: { ...configMap('x').metadata, ...controlled } }],
      /already owned|controller|controlled/i,
    ],
    'an invalid apiVersion': [
      () => [{ apiVersion: 'a/b/c', kind: 'Secret', metadata: { name: 'x', namespace: 'x' } }],
      /a\/b\/c/,
    ],
    'a value without a JSON form': [
      () => [{ ...configMap('x'), data: { port: NaN } }],
      /ConfigMap x\/settings: data\.port has no JSON form, got NaN; give a finite number/,
    ],
    'an object that contains itself': [
      circle,
      /ConfigMap x\/settings: data\.self has no JSON form, got an object that contains itself/,
    ],
    'an unserved kind': [
      () => [{ apiVersion: 'none.example.com/v1', kind: 'None', metadata: { name: 'x' } }],
      /None/,
    ],
  };
  for (const [name, [list, message]] of Object.entries(lists)) {
    it(`the reconciler blocks the deployment if getAllResources returns ${name}`, async () => {
      const stage = await open();
      stage.resources = list;
      await expectBlocked(stage, message);
    });

    it(`the reconciler blocks the upgrade if getAllResources returns ${name}`, async () => {
      const stage = await open();
      await stage.deploy('1.0.0');
      const before = await stage.get('Deployment', 'web');
      stage.resources = () => {
        const given = list();
        const known = system(stage.namespace, { image: 'nginx:2' });
        return Array.isArray(given) ? [...known, ...(given as object[])] : given;
      };
      expect(await stage.pass('1.1.0')).to.deep.equal({
        ...{ phase: 'Deployed', versions: '1.0.0 1.0.0 1.0.0' },
        conditions: 'T/F/T DeployCompleted ConfigError',
        events: ['ConfigError'],
      });
      expect((await stage.get('Deployment', 'web')).spec).to.deep.equal(before.spec);
      await expectCalm(stage, '1.1.0');
      stage.resources = () => system(stage.namespace, { image: 'nginx:2' });
      await stage.deploy('1.1.0');
    });
  }

  it('the reconciler records another event when the list of desired objects has another problem', async () => {
    const stage = await open();
    stage.resources = () => [null];
    await expectBlocked(stage, /object 1 is null/);
    stage.resources = () => [7];
    await expectBlocked(stage, /object 1 is number/);
  });

  it("the reconciler waits while getAllResources throws, and shows the error's message in a condition and an event", async () => {
    const stage = await open();
    stage.resources = () => {
      throw new Error('no such flavour');
    };
    expect(await stage.pass('1.0.0')).to.deep.equal({
      ...{ phase: undefined, versions: '- - -', conditions: 'F/T/T ReconcileFailed' },
      ...{ events: ['ReconcileFailed'], error: 'no such flavour' },
    });
    await expectCalm(stage);
  });

  it('the reconciler deploys an object as soon as the CRD of its kind is installed', async () => {
    const stage = await open();
    const [name] = systemRandom.uuid().split('-');
    const kind = `Late${name}`;
    const crd = createCrd({ group: 'late.example.com', kind }, { scope: 'Namespaced' });
    const metadata = { name: 'late', namespace: stage.namespace };
    const late = { apiVersion: 'late.example.com/v1alpha1', kind, metadata, spec: {} };
    stage.resources = () => [...system(stage.namespace), late];
    await expectBlocked(stage, new RegExp(kind));
    await stage.admin.create(crd);
    await stage.target.eventually(async () => {
      expect((await stage.pass('1.0.0')).phase).to.equal('Deployed');
    });
  });

  it('the reconciler deploys a CRD and objects of its kind together, and deletes them', async () => {
    const stage = await open();
    const [name] = systemRandom.uuid().split('-');
    const kind = `Own${name}`;
    const crd = createCrd({ group: 'own.example.com', kind }, { scope: 'Namespaced' });
    const metadata = { name: 'own', namespace: stage.namespace };
    const type = { apiVersion: 'own.example.com/v1alpha1', kind };
    stage.resources = () => [crd, { ...type, metadata, spec: { x: 1 } }];
    const first = await stage.pass('1.0.0');
    expect(first).to.include({ phase: 'Deploying', conditions: 'F/T/F DeployStarted' });
    await stage.deploy('1.0.0');
    expect((await stage.admin.get(type, metadata)).metadata.name).to.equal('own');
    await expectCalm(stage);
    await stage.delete();
    await stage.target.eventually(async () => {
      const { error } = await stage.pass('1.0.0');
      expect(error).to.equal(undefined);
      expect(await stage.exists()).to.equal(false);
    });
  });

  it('the reconciler does not touch objects of another configuration', async () => {
    const [one, other] = [await open(), await open()];
    await one.deploy('1.0.0');
    other.resources = () => system(one.namespace, { image: 'nginx:2' });
    await expectBlocked(other, /Deployment .*web belongs to SampleConfig .*choose another name/);
    expect((await one.pass('1.0.0')).events).to.deep.equal([]);
  });

  it('the reconciler waits until the objects of a deleted configuration with the same name are gone', async () => {
    const stage = await open();
    const { apiVersion, kind, metadata: owner } = await stage.config();
    const earlier = { uid: systemRandom.uuid(), name: stage.key.name, controller: true };
    const { metadata, ...rest } = configMap(stage.namespace);
    stage.resources = () => [configMap(stage.namespace)];
    await stage.admin.create({
      ...rest,
      metadata: {
        ...metadata,
        finalizers: ['example.com/held'],
        ownerReferences: [{ apiVersion, kind, ...earlier }],
      },
    });
    const seen = await stage.pass('1.0.0');
    expect(seen.events).to.include('ResourceBeingDeleted');
    expect(seen.error).to.equal(undefined);
    await stage.touch('ConfigMap', 'settings', { metadata: { finalizers: null } });
    await stage.target.eventually(async () => {
      expect((await stage.pass('1.0.0')).phase).to.equal('Deployed');
    });
    const key = { name: 'settings', namespace: stage.namespace };
    const made = await stage.admin.get({ apiVersion: 'v1', kind: 'ConfigMap' }, key);
    const { ownerReferences = [] } = made.metadata;
    expect(ownerReferences.map(({ uid }) => uid)).to.deep.equal([owner.uid]);
  });

  it('the reconciler waits for existing objects without an owner, and names them', async () => {
    const stage = await open();
    const { namespace } = stage;
    const touched = deployment(namespace, { image: 'nginx:0' });
    await stage.admin.create(touched);
    expect(await stage.pass('1.0.0')).to.deep.equal({
      ...{ phase: undefined, versions: '- - -', conditions: 'F/F/T OrphansExist' },
      events: ['OrphansExist'],
    });
    const { conditions = [] } = await stage.status();
    expect(conditions[2]?.message)
      .to.include(`Deployment ${namespace}/web`)
      .and.not.include('Service');
    expect(await stage.isGone('Service', 'web')).to.equal(true);
    await expectCalm(stage);
    await stage.admin.delete(
      { apiVersion: 'apps/v1', kind: 'Deployment' },
      { name: 'web', namespace },
    );
    await stage.target.eventually(async () =>
      expect(await stage.isGone('Deployment', 'web')).to.equal(true),
    );
    await stage.deploy('1.0.0');
  });

  it('the reconciler does not start an upgrade that would overwrite an object without an owner', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    await stage.admin.create(configMap(stage.namespace));
    stage.resources = () => [...system(stage.namespace), configMap(stage.namespace)];
    expect(await stage.pass('1.1.0')).to.include({
      ...{ phase: 'Deployed', conditions: 'T/F/T DeployCompleted OrphansExist' },
    });
  });

  it('the reconciler takes over objects without an owner if the option orphans allows it', async () => {
    const stage = await open({ orphans: 'adopt' });
    await stage.admin.create(deployment(stage.namespace, { image: 'nginx:0', replicas: 0 }));
    // If the Deployment controller wrote the Deployment later, the update would conflict.
    await stage.rolledOut();
    expect((await stage.pass('1.0.0')).events).to.deep.equal([
      'DeployStarted',
      'CreateResourceSuccess ServiceAccount web',
      'UpdateResourceSuccess Deployment web',
      'CreateResourceSuccess Service web',
    ]);
    const { metadata } = await stage.get('Deployment', 'web');
    expect(metadata.ownerReferences?.[0]).to.include({ kind: 'SampleConfig', controller: true });
  });

  const foreign: Record<string, (stage: Stage) => object> = {
    'cluster-scoped objects': ({ namespace }) => ({
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
      metadata: { name: `lifecycle-${namespace}` },
    }),
    'objects of another namespace': () => configMap('default'),
  };
  for (const [name, object] of Object.entries(foreign)) {
    it(`the reconciler does not let a namespaced configuration own ${name}`, async () => {
      const stage = await open({ type: LocalConfig });
      stage.resources = () => [...system(stage.namespace), object(stage)];
      await expectBlocked(stage, /LocalConfig .*config can't own/);
    });
  }

  it('the reconciler deploys, upgrades and removes with a namespaced configuration, without a list of cluster-scoped kinds', async () => {
    const stage = await open({ type: LocalConfig });
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
    stage.dependants = [...stage.dependants, role];
    await stage.deploy('1.0.0');
    stage.resources = () => system(stage.namespace, { image: 'nginx:2' });
    await stage.target.eventually(async () => {
      expect(await stage.pass('1.1.0')).to.include({ phase: 'Deployed' });
    });
    await stage.delete();
    await stage.target.eventually(async () => {
      await stage.pass('1.1.0');
      expect(await stage.exists()).to.equal(false);
    });
    // A namespaced configuration can't own cluster-scoped objects, and its operator may not be allowed to list them.
    const asked = (await stage.operator.requests()).map(({ resource }) => resource);
    expect(asked).to.include('configmaps').and.not.include('clusterroles');
  });

  it('the reconciler tells how to solve the refusal to change an immutable field; the upgrade waits and completes afterwards', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const [account, workload, service] = system(stage.namespace, { name: 'web', image: 'nginx:2' });
    const spec = workload?.['spec'] as { readonly template: object };
    const labels = { app: 'web', tier: 'front' };
    const template = { ...spec.template, metadata: { labels } };
    const changed = { ...workload, spec: { ...spec, selector: { matchLabels: labels }, template } };
    stage.resources = () => [account, changed, service];
    const seen = await stage.pass('1.1.0');
    expect(seen).to.include({
      ...{ phase: 'Upgrading', versions: '1.1.0 1.1.0 1.0.0' },
      conditions: 'T/T/T ReconcileFailed',
    });
    expect(seen.events).to.deep.equal(['UpgradeStarted', 'UpdateResourceFailed Deployment web']);
    const { conditions = [] } = await stage.status();
    expect(conditions[2]?.message).to.match(
      /selector.*immutable; give the object another name in a new release, or delete it, with its pods or data, to have/,
    );
    const key = { name: 'web', namespace: stage.namespace };
    await stage.admin.delete({ apiVersion: 'apps/v1', kind: 'Deployment' }, key);
    await stage.deploy('1.1.0');
  });

  it('the reconciler adds no advice to the refusal of an admission policy, which may also contain the word immutable', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    stage.resources = () => system(stage.namespace, { name: 'web', image: 'nginx:2' });
    const why = 'protected objects are immutable';
    const message = `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${why}`;
    const { client } = stage.operator;
    const update: Client['update'] = async (object, options) => {
      if (object.kind !== 'Deployment') return client.update(object, options);
      const request = { verb: 'update', kind: 'Deployment', name: 'web', status: 422 } as const;
      throw new ApiError({ reason: 'Invalid', message }, request);
    };
    await stage.pass('1.1.0', stage.newReconciler({ client: { ...forwarding(client), update } }));
    const { conditions = [] } = await stage.status();
    expect(conditions[2]?.message).to.match(new RegExp(`${why}$`));
  });

  it('the reconciler adds advice to the refusal of another clusterIP of a Service', async () => {
    const stage = await open();
    const { namespace } = stage;
    const service = (clusterIP: string): object => ({
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace } },
      spec: { clusterIP, ports: [{ port: 80 }], selector: { app: 'web' } },
    });
    await expectRemedy(stage, [service('None'), service('10.96.0.77')], {
      refusal: 'may not change once set; give the object another name in a new release',
    });
  });

  it('the reconciler adds advice to the refusal of a smaller PersistentVolumeClaim', async () => {
    const stage = await open();
    const { namespace } = stage;
    const claim = (storage: string): object => ({
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'web', namespace } },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    });
    await expectRemedy(stage, [claim('2Gi'), claim('1Gi')], {
      refusal: 'than status.capacity; take the change back: claims can only grow',
      until: async () => {
        const { status } = await stage.get<PersistentVolumeClaim>('PersistentVolumeClaim', 'web');
        expect(status?.phase).to.equal('Bound');
      },
    });
  });

  it('the reconciler tells what to do if getAllResources modifies the configuration object that it is given', async () => {
    const stage = await open();
    stage.resources = (config) => {
      Object.assign(config.spec ?? {}, { size: 'large' });
      return [];
    };
    const { client } = stage.operator;
    const frozen: Client = {
      ...forwarding(client),
      get: async (type, key, options) => deepFreeze(await client.get(type, key, options)),
    };
    await stage.pass('1.0.0', stage.newReconciler({ client: frozen }));
    const { conditions = [] } = await stage.status();
    expect(conditions[2]?.message).to.match(/^getAllResources: Cannot add .*change a copy/);
  });

  it('the reconciler waits while a desired object is being deleted, and then creates it again', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    await stage.touch('Service', 'web', { metadata: { finalizers: ['example.com/held'] } });
    const key = { name: 'web', namespace: stage.namespace };
    await stage.admin.delete({ apiVersion: 'v1', kind: 'Service' }, key);
    const seen = await stage.pass('1.0.0');
    expect(seen).to.include({ conditions: 'T/F/T DeployCompleted ResourceBeingDeleted' });
    expect(seen.events).to.deep.equal(['ResourceBeingDeleted']);
    await expectCalm(stage);
    // An object in deletion is not updated.
    await stage.touch('Service', 'web', { spec: { selector: { app: 'other' } } });
    await expectCalm(stage);
    await stage.touch('Service', 'web', { metadata: { finalizers: null } });
    expect((await stage.pass('1.0.0')).events).to.deep.equal(['CreateResourceSuccess Service web']);
  });

  it('the reconciler never reveals the values of a Secret', async () => {
    const stage = await open();
    const metadata = { name: 'token', namespace: stage.namespace };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { token: 'hunter2' } };
    stage.resources = () => [secret];
    stage.dispatcher.addCallback({ apiVersion: 'v1', kind: 'Secret' }, ({ desired }) => {
      throw new Error(`bad token ${JSON.stringify(desired)}`);
    });
    await stage.reconciler.reconcile({ key: stage.key }, '1.0.0').catch(() => undefined);
    const told = JSON.stringify([stage.events.map(({ note }) => note), await stage.status()]);
    expect(told).to.include('bad token').and.include('(redacted)').and.not.include('hunter2');
  });

  it('the reconciler never reveals values that a user put into a Secret, whichever callback quotes them', async () => {
    const stage = await open();
    const metadata = { name: 'token', namespace: stage.namespace };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { token: 'hunter2' } };
    stage.resources = () => [secret];
    await stage.deploy('1.0.0');
    const theirs = Buffer.from('letmein').toString('base64');
    await stage.touch('Secret', 'token', { data: { token: theirs } });
    const Secret = { apiVersion: 'v1', kind: 'Secret' };
    let quoting = '';
    stage.dependants = [...stage.dependants, Secret];
    stage.dispatcher.addCallback(Secret, ({ state, desired, current }) => {
      if (state !== quoting) return;
      const { data = {} } = (current ?? {}) as { readonly data?: Readonly<Record<string, string>> };
      throw new Error(
        `bad token ${JSON.stringify([desired, current])} ${atob(data['token'] ?? '')}`,
      );
    });
    const told: string[] = [];
    for (const state of ['POST_READ', 'POST_DELETE', 'POST_DELETE', 'OPERATOR_DELETE']) {
      quoting = state;
      stage.resources = () => (state === 'POST_DELETE' ? [] : [secret]);
      if (state === 'OPERATOR_DELETE') await stage.deploy('1.0.0');
      if (state === 'OPERATOR_DELETE') await stage.delete();
      await stage.reconciler.reconcile({ key: stage.key }, '1.0.0').catch(() => undefined);
      const notes = stage.events.splice(0).map(({ note }) => note);
      told.push(JSON.stringify([notes, await stage.status()]));
    }
    for (const text of told) {
      expect(text).to.include('bad token').and.include('(redacted)');
      expect(text).to.not.match(new RegExp(`hunter2|${btoa('hunter2')}|letmein|${theirs}`));
    }
  });

  it('the reconciler compares invalid versions as text: any difference is an upgrade', async () => {
    const stage = await open();
    await stage.deploy('tip of the tree');
    expect(await stage.pass('!!')).to.include({
      phase: 'Upgrading',
      versions: '!! !! tip of the tree',
    });
    await stage.deploy('!!');
  });
}

/** Expects that nothing was created and everything was reported, once. */
async function expectBlocked(stage: Stage, message: RegExp): Promise<void> {
  expect(await stage.pass('1.0.0')).to.deep.equal({
    ...{ phase: undefined, versions: '- - -', conditions: 'F/F/T ConfigError' },
    events: ['ConfigError'],
  });
  const { conditions = [] } = await stage.status();
  expect(conditions[2]?.message, JSON.stringify(conditions)).to.match(message);
  const { metadata } = await stage.config();
  expect(metadata.finalizers).to.equal(undefined);
  expect(await stage.isGone('Deployment', 'web')).to.equal(true);
  await expectCalm(stage);
}

/** Expects no repeated reports and no writes. */
async function expectCalm(stage: Stage, version = '1.0.0'): Promise<void> {
  await stage.operator.requests();
  expect((await stage.pass(version)).events).to.deep.equal([]);
  expect((await stage.pass(version, stage.newReconciler())).events).to.deep.equal([]);
  expect(await stage.writes()).to.deep.equal([]);
}

/** Expects that the server refuses the second object in place of the first one, and that a condition says why. */
async function expectRemedy(
  stage: Stage,
  [before, after]: readonly [object, object],
  { refusal, until }: { readonly refusal: string; readonly until?: () => Promise<void> },
): Promise<void> {
  stage.resources = () => [before];
  await stage.deploy('1.0.0');
  if (until !== undefined) await stage.target.eventually(until);
  stage.resources = () => [after];
  await stage.pass('1.0.0');
  const { conditions = [] } = await stage.status();
  expect(conditions[2]?.message).to.include(refusal);
}
