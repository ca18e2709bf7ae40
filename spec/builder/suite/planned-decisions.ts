import { expect } from 'chai';
import pick from 'lodash/pick.js';
import type { Builder, BuilderOptions, Plan } from '../../../lib/builder/index.js';
import { faulty, forwarding } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import type { OpenScene } from './builder-suite.js';
import { controllerName, podSpec } from './scene.js';
import type { Scene } from './scene.js';

/** Specs of planned objects, each compared as a whole. */
export function plannedDecisionsSuite(open: OpenScene): void {
  /** Returns the planned objects without ids. Of an error it returns the code, because the reason has the message. */
  function decisions({ objects }: Plan): readonly object[] {
    return objects.map(({ ref: { kind, name }, error, ...rest }) => {
      const code = error && { code: error.code };
      return { ref: `${kind} ${name}`, ...rest, ...code };
    });
  }

  const exact = { approximate: false, changes: [] };
  const image = 'registry.example/web:2';
  const newer = { containers: [{ name: 'web', image }] };
  const imageChange = {
    ...{ path: 'spec.template.spec.containers[name=web].image', to: image },
    from: 'registry.example/web:1',
  };
  const added = (path: string, to: object): object => ({ path, from: undefined, to });
  const labels = added('metadata.labels', {
    'app.kubernetes.io/name': 'configmap',
    'app.kubernetes.io/instance': 'shop',
    'app.kubernetes.io/managed-by': controllerName,
  });
  const env = { ref: 'ConfigMap env', approximate: false };
  const newEnv = {
    ref: 'ConfigMap env',
    action: 'create',
    changes: [labels, added('data', { A: '1' })],
  };

  it('a plan lists all desired fields of a new object, and only changed fields of an existing one', async () => {
    const scene = await open();
    const chain = (A: string): Builder =>
      scene
        .builder()
        .configMap({ name: 'env', data: { A } })
        .object({
          ...{ apiVersion: 'v1', kind: 'ConfigMap' },
          metadata: { name: 'noted', annotations: { note: 'ours' } },
        });
    const annotations = added('metadata.annotations', { note: 'ours' });
    const noted = { ref: 'ConfigMap noted', approximate: false };
    expect(decisions(await chain('1').plan())).to.deep.equal([
      { ...newEnv, approximate: false },
      { ...noted, action: 'create', changes: [labels, annotations] },
    ]);
    await chain('1').reconcile();
    expect(decisions(await chain('1').plan())).to.deep.equal([
      { ...env, action: 'unchanged', changes: [] },
      { ...noted, action: 'unchanged', changes: [] },
    ]);
    expect(decisions(await chain('2').plan())).to.deep.equal([
      { ...env, action: 'configure', changes: [{ path: 'data.A', from: '1', to: '2' }] },
      { ...noted, action: 'unchanged', changes: [] },
    ]);
  });

  it('a plan shows objects as waiting while their namespace is being deleted, as a reconcile does', async () => {
    const scene = await open();
    const { namespace } = scene;
    const metadata = { namespace, name: 'held', finalizers: ['example.com/held'] };
    await scene.admin.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    await scene.admin.delete({ apiVersion: 'v1', kind: 'Namespace' }, { name: namespace });
    const plan = await scene
      .builder()
      .configMap({ name: 'env', data: { A: '1' } })
      .plan();
    expect(decisions(plan)).to.deep.equal([
      {
        ...env,
        action: 'wait',
        changes: [],
        reason: 'waits, because its namespace is being deleted',
      },
    ]);
    await scene.edit(ConfigMap, 'held', { body: { metadata: { finalizers: null } } });
  });

  it('a plan prunes what the changed workload no longer refers to, and keeps what the workload still refers to', async () => {
    const scene = await open();
    const web = (builder: Builder, image: string, ...envs: readonly string[]): Builder => {
      const envFrom = envs.map((name) => ({ configMapRef: { name } }));
      const containers = [{ name: 'web', image, envFrom }];
      return builder.deployment({ name: 'web', replicas: 0, podSpec: { containers } });
    };
    const before = (): Builder =>
      scene.builder().configMap({ name: 'env' }).configMap({ name: 'other' });
    const { namespace } = scene;
    await scene.reconcileUntilDone(() => web(before(), 'example/web:1', 'env', 'other'));
    const { objects } = await web(scene.builder(), 'example/web:2', 'other').plan();
    expect(objects.map(({ action, ref, reason }) => [action, ref.name, reason])).to.deep.equal([
      ['configure', 'web', undefined],
      ['prune', 'env', undefined],
      ['wait', 'other', `Deployment ${namespace}/web still refers to it`],
    ]);
  });

  it('a plan shows that an object that is being deleted, and the objects that depend on it, have to wait', async () => {
    const scene = await open();
    const chain = (): Builder =>
      scene
        .builder()
        .configMap({ name: 'env' })
        .deployment({ name: 'web', podSpec, rolloutOn: ['env'] })
        .deployment({ name: 'other', podSpec });
    await chain().reconcileConfigMap();
    const finalizers = ['example.com/held'];
    await scene.edit(ConfigMap, 'env', { body: { metadata: { finalizers } } });
    await scene.admin.delete(ConfigMap, { namespace: scene.namespace, name: 'env' });
    const { objects } = await chain().plan();
    expect(objects.map(({ action, ref }) => `${action} ${ref.name}`)).to.deep.equal([
      ...['wait env', 'wait web', 'create other'],
    ]);
    expect(objects[1]?.reason).to.equal(
      `waits for ConfigMap ${scene.namespace}/env, which is pending`,
    );
    const results = await chain().reconcile();
    expect(results.map(({ operation, ref }) => `${operation} ${ref.name}`)).to.deep.equal([
      ...['pending env', 'pending web', 'created other'],
    ]);
    await scene.edit(ConfigMap, 'env', { body: { metadata: { finalizers: null } } });
  });

  it('a plan shows the changes of the new object if another process recreates an object during the plan', async () => {
    const scene = await open();
    const chain = (A: string, options: Partial<BuilderOptions> = {}): Builder =>
      scene.builder(options).configMap({ name: 'env', data: { A } });
    await chain('1').reconcile();
    const inner = scene.operator.client;
    const { metadata, ...content } = await scene.get(ConfigMap, 'env');
    const { namespace = '', name = '' } = metadata;
    const kept = pick(metadata, ['namespace', 'name', 'labels', 'annotations', 'ownerReferences']);
    let isRecreated = false;
    const client: Client = {
      ...forwarding(inner),
      apply: async (object, how) => {
        if (!isRecreated) {
          isRecreated = true;
          await scene.admin.delete(ConfigMap, { namespace, name });
          await scene.admin.create({ ...content, metadata: kept, data: { A: '2' } });
        }
        return inner.apply(object, how);
      },
    };
    const { objects } = await chain('3', { client }).plan();
    const { uid } = (await scene.get(ConfigMap, 'env')).metadata;
    const changes = [{ path: 'data.A', from: '2', to: '3' }];
    expect(objects[0]).to.deep.include({ action: 'configure', approximate: false, changes });
    expect(objects[0]?.ref.uid).to.equal(uid);
  });

  it('a plan shows that an autoscaler fails if its new target does not exist', async () => {
    const scene = await open();
    const chain = (name: string, maxReplicas: number): Builder =>
      scene
        .builder()
        .deployment({ name: 'api', podSpec, replicas: 2 })
        .horizontalPodAutoscaler({
          name: 'scaler',
          spec: {
            maxReplicas,
            scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
          },
        });
    await chain('api', 2).reconcile();
    const [, scaler] = (await chain('apo', 3).plan()).objects;
    expect(scaler).to.deep.include({ action: 'fail', ...exact });
    expect(scaler?.error?.code).to.equal('TargetMissing');
  });

  for (const [what, status, message, reason] of [
    [
      'a webhook refuses dry runs',
      400,
      'admission webhook "a" does not support dry run',
      /^a webhook/,
    ],
    ['dry runs are forbidden', 403, 'no', /^no dry run: apply (ConfigMap|Deployment) .*: 403: no/],
  ] as const) {
    it(`a plan lists expected changes and restarts without a dry run, because ${what}`, async () => {
      const scene = await open();
      await scene.builder().deployment({ name: 'web', podSpec }).reconcile();
      const fault = { type: 'error', status, message } as const;
      const client = faulty(scene.operator.client, { rules: [{ fault, verbs: ['apply'] }] });
      const plan = await scene
        .builder({ client })
        .configMap({ name: 'env', data: { A: '1' } })
        .deployment({ name: 'web', podSpec: newer })
        .plan();
      const told = plan.objects.map((each) => ({
        ...each,
        reason: reason.test(each.reason ?? ''),
      }));
      const guessed = { approximate: true, reason: true };
      expect(decisions({ ...plan, objects: told as never })).to.deep.equal([
        { ...newEnv, ...guessed },
        { ref: 'Deployment web', action: 'configure', changes: [imageChange], ...guessed },
      ]);
      expect(plan.rollouts.map(({ changes }) => changes)).to.deep.equal([[imageChange]]);
    });
  }

  it('a plan reports what happens to the pods of a workload when an immutable field changes', async () => {
    const scene = await open();
    const path = 'spec.serviceName';
    const planned = async (
      options: Parameters<Scene['builder']>[0],
      template = podSpec,
    ): Promise<object> => {
      const set = { name: 'store', podSpec: template, spec: { serviceName: 'two' } };
      const plan = await scene.builder(options).statefulSet(set).plan();
      return { decision: decisions(plan)[0], rolls: plan.rollouts.length };
    };
    await scene
      .builder()
      .statefulSet({ name: 'store', podSpec, spec: { serviceName: 'one' } })
      .reconcile();
    const set = {
      ...{ ref: 'StatefulSet store', changes: [{ path, from: 'one', to: 'two' }] },
      ...{ immutable: [path], approximate: false },
    };
    const where = `StatefulSet ${scene.namespace}/store`;
    const violation = { action: 'violate', reason: `${where}: ${path} can't change once set` };
    expect(await planned({})).to.deep.equal({
      ...{ rolls: 0, decision: { ...set, ...violation, code: 'ImmutableField' } },
    });
    const replaced = { ...set, action: 'recreate', reason: 'deleted and recreated' };
    expect(await planned({ onImmutable: 'recreate' })).to.deep.equal({
      ...{ rolls: 1, decision: replaced },
    });
    const kept = { ...set, action: 'recreate', reason: 'recreated; its pods stay' };
    const onImmutable = 'recreateOrphan';
    expect(await planned({ onImmutable })).to.deep.equal({ rolls: 0, decision: kept });
    const rolled = { ...kept, reason: 'recreated; its pods stay until its rollout replaces them' };
    expect(await planned({ onImmutable }, newer)).to.deep.equal({ rolls: 1, decision: rolled });
    const fault = { type: 'error', status: 403, message: 'no' } as const;
    const client = faulty(scene.operator.client, { rules: [{ fault, verbs: ['create'] }] });
    const problem = `no dry run: create ${where}: 403: no (check the RBAC rules of this operator)`;
    const reason = `${kept.reason}; ${problem}`;
    expect(await planned({ onImmutable, client })).to.deep.equal({
      ...{ rolls: 0, decision: { ...kept, reason, approximate: true } },
    });
  });

  it('a plan shows the fields that the builder takes over from other managers', async () => {
    const scene = await open();
    const { namespace } = scene;
    const { apiVersion, kind, metadata } = scene.owner;
    const { name: owner = '', uid = '' } = metadata;
    const ownerReferences = [{ apiVersion, kind, name: owner, uid, controller: true }];
    for (const [name, immutable] of Object.entries({ env: false, fixed: true })) {
      const made: ConfigMap = {
        ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { A: '0', OLD: 'x' }, immutable },
        metadata: { namespace, name, ownerReferences },
      };
      await scene.admin.create(made, { fieldManager: 'manager' });
    }
    const chain = (A: string, adoptManagers: readonly string[] = []): Builder =>
      scene.builder({ adoptManagers }).configMap({ name: 'env', data: { A } });
    await chain('1').reconcile();
    const removals = [
      { path: 'immutable', from: false, to: undefined },
      { path: 'data.OLD', from: 'x', to: undefined },
    ];
    const reason = 'takes over the fields of manager';
    const adopted = { ref: 'ConfigMap env', action: 'configure', approximate: true, reason };
    for (const [A, changes] of [
      ['1', removals],
      ['2', [{ path: 'data.A', from: '1', to: '2' }, ...removals]],
    ] as const) {
      const plan = await chain(A, ['manager'])
        .configMap({ name: 'fixed', data: { A: '1' } })
        .plan();
      const [seen, fixed] = decisions(plan);
      expect(seen).to.deep.equal({ ...adopted, changes });
      expect(fixed).to.include({ action: 'violate', approximate: false });
    }
    // If an object has no managers, the server assigns its fields to the manager `before-first-apply`.
    await scene.edit(ConfigMap, 'env', { body: { metadata: { managedFields: [{}] } } });
    const theirs = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'env' } };
    await scene.admin.apply({ ...theirs, data: { THEIRS: 'x' } }, { fieldManager: 'other' });
    expect(decisions(await chain('1').plan())).to.deep.equal([
      { ...env, action: 'configure', changes: [] },
    ]);
  });

  it('a plan shows a violation or a recreation if the fields to take over from another manager are immutable', async () => {
    const scene = await open();
    const { namespace } = scene;
    const { apiVersion, kind, metadata } = scene.owner;
    const { name: owner = '', uid = '' } = metadata;
    const ownerReferences = [{ apiVersion, kind, name: owner, uid, controller: true }];
    const made: ConfigMap = {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { A: '1', OLD: 'x' }, immutable: true },
      metadata: { namespace, name: 'env', ownerReferences },
    };
    await scene.admin.create(made, { fieldManager: 'manager' });
    for (const [onImmutable, action, operation] of [
      ['fail', 'violate', 'ImmutableField'],
      ['recreate', 'recreate', 'recreated'],
    ] as const) {
      const chain = (): Builder =>
        scene
          .builder({ adoptManagers: ['manager'], onImmutable })
          .configMap({ name: 'env', data: { A: '1' } });
      const [planned] = (await chain().plan()).objects;
      expect(planned).to.deep.include({ action, immutable: ['immutable', 'data.OLD'] });
      const did = await chain()
        .reconcile()
        .then(
          ([result]) => result?.operation,
          (error: unknown) => (error as { errors: { code: string }[] }).errors[0]?.code,
        );
      expect(did).to.equal(operation);
    }
  });

  it('a plan shows a change even if only the field manager changes', async () => {
    const scene = await open();
    const { namespace } = scene;
    const chain = (adoptManagers: readonly string[]): Builder =>
      scene.builder({ adoptManagers }).configMap({ name: 'env', data: { A: '1' } });
    await chain([]).reconcile();
    const key = { namespace, name: 'env' };
    for (const A of ['2', '1']) {
      const patch = { type: 'merge', body: { data: { A } } } as const;
      await scene.admin.patch(ConfigMap, key, patch, { fieldManager: 'manager' });
    }
    const reason = 'takes over the fields of manager';
    expect(decisions(await chain(['manager']).plan())).to.deep.equal([
      { ref: 'ConfigMap env', action: 'configure', changes: [], approximate: true, reason },
    ]);
  });
}
