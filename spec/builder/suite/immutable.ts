import { expect } from 'chai';
import { isReconcileFailed } from '../../../lib/apply/index.js';
import type { Builder } from '../../../lib/builder/index.js';
import { forwarding } from '../../../lib/client/index.js';
import type { Client, DeleteOptions } from '../../../lib/client/index.js';
import {
  ConfigMap,
  Deployment,
  Job,
  Pod,
  RoleBinding,
  Secret,
  Service,
  StatefulSet,
} from '../../../lib/object/kinds.js';
import type { OperatorError } from '../../../lib/system/operator-error.js';
import type { OpenScene } from './builder-suite.js';
import { podSpec, summary } from './scene.js';
import type { Scene } from './scene.js';

/** Returns the errors that reconciling `chain` throws. */
export async function errorsOf(chain: Builder): Promise<readonly OperatorError[]> {
  try {
    await chain.reconcile();
  } catch (error) {
    if (isReconcileFailed(error)) return error.errors;
    throw error;
  }
  throw new Error('it did not fail');
}

const claims = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

/** Specs about fields that the server does not let change. */
export function immutableSuite(open: OpenScene): void {
  type Policy = 'fail' | 'recreate' | 'recreateOrphan';

  const setOf = (scene: Scene, serviceName: string, onImmutable: Policy = 'fail'): Builder =>
    scene.builder({ onImmutable }).statefulSet({ name: 'web', podSpec, spec: { serviceName } });

  it('the builder fails by default if an immutable field changes, and names the field in the error and the event', async () => {
    const scene = await open();
    await setOf(scene, 'one').reconcile();
    const [error] = await errorsOf(setOf(scene, 'two'));
    expect(error?.code).to.equal('ImmutableField');
    expect(error?.message).to.include(`StatefulSet ${scene.namespace}/web can't be applied`);
    expect(error?.message).to.include('spec.serviceName ("one" to "two")');
    expect(error?.message).to.include('onImmutable');
    const event = scene.events.find(({ reason }) => reason === 'ImmutableField');
    expect(event?.note).to.include('spec.serviceName');
    expect(scene.events.filter(({ type }) => type === 'Warning')).to.deep.equal([event]);
    expect((await scene.get(StatefulSet, 'web')).spec?.serviceName).to.equal('one');
  });

  it('the builder recreates an object whose immutable field changes with onImmutable: recreate', async () => {
    const scene = await open();
    await setOf(scene, 'one').reconcile();
    const { uid } = (await scene.get(StatefulSet, 'web')).metadata;
    const [result] = await setOf(scene, 'two', 'recreate').reconcile();
    expect(result).to.deep.include({
      operation: 'recreated',
      changes: [{ path: 'spec.serviceName', from: 'one', to: 'two' }],
    });
    const { metadata, spec } = await scene.get(StatefulSet, 'web');
    expect(metadata.uid).not.to.equal(uid);
    expect(spec?.serviceName).to.equal('two');
    await scene.reconcileUntilDone(() => setOf(scene, 'two', 'recreate'));
    expect(scene.events.filter(({ type }) => type === 'Warning')).to.deep.equal([]);
  });

  it('the builder deletes nothing if the new version of the object to recreate would be invalid', async () => {
    const scene = await open();
    await setOf(scene, 'one').reconcile();
    const { uid } = (await scene.get(StatefulSet, 'web')).metadata;
    const invalid = scene.builder({ onImmutable: 'recreate' }).statefulSet({
      name: 'web',
      podSpec: { containers: [{ name: 'Not_A_Name', image: 'registry.example/web:1' }] },
      spec: { serviceName: 'two' },
    });
    const [error] = await errorsOf(invalid);
    expect(error?.code).to.equal('Terminal');
    expect(error?.message).to.include('nothing was deleted');
    const warnings = scene.events.filter(({ type }) => type === 'Warning');
    expect(warnings.map(({ note }) => note)).to.deep.equal([error?.message]);
    expect((await scene.get(StatefulSet, 'web')).metadata.uid).to.equal(uid);
    expect((await scene.writes()).filter((write) => write.startsWith('delete'))).to.deep.equal([]);
  });

  const droppable: readonly [string, object, string][] = [
    ['serviceName', { serviceName: 'one' }, 'spec.serviceName'],
    ['volumeClaimTemplates', { volumeClaimTemplates: [claims] }, 'spec.volumeClaimTemplates'],
    ['podManagementPolicy', { podManagementPolicy: 'Parallel' }, 'spec.podManagementPolicy'],
  ];
  for (const [name, spec, path] of droppable) {
    it(`the builder treats the removal of ${name} as a change of an immutable field`, async () => {
      const scene = await open();
      const chain = (onImmutable: Policy, dropped: object): Builder =>
        scene.builder({ onImmutable }).statefulSet({
          ...{ name: 'web', podSpec, replicas: 0, spec: dropped },
        });
      await chain('fail', spec).reconcile();
      const [error] = await errorsOf(chain('fail', {}));
      expect(error?.code).to.equal('ImmutableField');
      expect(error?.message).to.include(`applied: ${path} (`);
      const [planned] = (await chain('recreate', {}).plan()).objects;
      expect(planned).to.deep.include({ action: 'recreate', immutable: [path] });
      const [result] = await chain('recreate', {}).reconcile();
      expect(result?.operation).to.equal('recreated');
      expect(result?.changes.map((change) => change.path)).to.deep.equal([path]);
    });
  }

  it('the builder changes and removes the mutable fields of a StatefulSet without recreating it', async () => {
    const scene = await open();
    const chain = (spec: object, pod = podSpec): Builder =>
      scene.builder({ onImmutable: 'recreate' }).statefulSet({ name: 'web', podSpec: pod, spec });
    await chain({}).reconcile();
    const { uid } = (await scene.get(StatefulSet, 'web')).metadata;
    const retained = (whenDeleted: string) => ({ whenDeleted, whenScaled: 'Retain' });
    const mutable = {
      replicas: [2, 1],
      ordinals: [{ start: 3 }, { start: 4 }],
      updateStrategy: [{ type: 'OnDelete' }, { type: 'RollingUpdate' }],
      revisionHistoryLimit: [3, 4],
      persistentVolumeClaimRetentionPolicy: [retained('Delete'), retained('Retain')],
      minReadySeconds: [5, 6],
    };
    for (const [field, values] of Object.entries(mutable)) {
      for (const spec of [...values.map((value) => ({ [field]: value })), {}]) {
        const [result] = await chain(spec).reconcile();
        expect(result?.operation, `${field}: ${JSON.stringify(spec)}`).to.equal('configured');
      }
    }
    expect((await scene.get(StatefulSet, 'web')).metadata.uid).to.equal(uid);
    const changed = Object.entries(mutable).map(([field, [value]]) => [field, value] as const);
    const whole = { ...Object.fromEntries(changed), serviceName: 'other' };
    const newer = { containers: [{ name: 'web', image: 'registry.example/web:2' }] };
    const [planned] = (await chain(whole, newer).plan()).objects;
    expect(planned?.immutable).to.deep.equal(['spec.serviceName']);
  });

  it('the builder removes a default of the server that conflicts with the new value of another field', async () => {
    const scene = await open();
    const chain = (strategy: { type: string } | undefined): Builder =>
      scene.builder().deployment({ name: 'web', podSpec, replicas: 0, strategy });
    await chain(undefined).reconcile();
    const recreate = chain({ type: 'Recreate' });
    const paths = ['spec.strategy.rollingUpdate', 'spec.strategy.type'];
    const [planned] = (await recreate.plan()).objects;
    expect(planned).to.deep.include({ action: 'configure', approximate: true });
    expect(planned?.changes.map(({ path }) => path).toSorted()).to.deep.equal(paths);
    expect(planned?.reason).to.include(
      'default of spec.strategy.rollingUpdate conflicts with the desired object',
    );
    await scene.writes();
    const [result] = await recreate.reconcile();
    expect(result?.operation).to.equal('configured');
    expect(result?.changes.map(({ path }) => path).toSorted()).to.deep.equal(paths);
    expect((await scene.get(Deployment, 'web')).spec?.strategy).to.deep.equal({ type: 'Recreate' });
    await scene.reconcileUntilDone(() => chain({ type: 'Recreate' }));
    // Only the operator owns the strategy. When it drops the field, the server sets the default again.
    await chain(undefined).reconcile();
    expect((await scene.get(Deployment, 'web')).spec?.strategy?.type).to.equal('RollingUpdate');
  });

  it('the builder keeps a field of another manager, although the server then rejects the change', async () => {
    const scene = await open();
    const chain = (strategy: { type: string } | undefined): Builder =>
      scene.builder().deployment({ name: 'web', podSpec, replicas: 0, strategy });
    await chain(undefined).reconcile();
    const key = { namespace: scene.namespace, name: 'web' };
    const body = { spec: { strategy: { rollingUpdate: { maxSurge: 2 } } } };
    await scene.admin.patch(Deployment, key, { type: 'merge', body }, { fieldManager: 'someone' });
    const [error] = await errorsOf(chain({ type: 'Recreate' }));
    expect(error?.message).to.include('spec.strategy.rollingUpdate: Forbidden');
    const { spec } = await scene.get(Deployment, 'web');
    expect(spec?.strategy?.rollingUpdate?.maxSurge).to.equal(2);
  });

  it('the builder treats the removal of a field from a claim template as a change of an immutable field', async () => {
    const scene = await open();
    const chain = (more: object): Builder =>
      scene.builder({ onImmutable: 'recreate' }).statefulSet({
        ...{ name: 'web', podSpec, replicas: 0 },
        volumeClaimTemplates: [{ ...claims, spec: { ...claims.spec, ...more } }],
      });
    await chain({ storageClassName: 'fast', volumeMode: 'Filesystem' }).reconcile();
    const [planned] = (await chain({ volumeMode: 'Filesystem' }).plan()).objects;
    const path = 'spec.volumeClaimTemplates[0].spec.storageClassName';
    expect(planned).to.deep.include({ action: 'recreate', immutable: [path] });
    const [result] = await chain({}).reconcile();
    expect(result).to.deep.include({
      operation: 'recreated',
      changes: [{ path, from: 'fast', to: undefined }],
    });
    const [template] = (await scene.get(StatefulSet, 'web')).spec?.volumeClaimTemplates ?? [];
    expect(template?.spec?.storageClassName).to.equal(undefined);
  });

  it('the builder treats the removal of a selector label as a change of an immutable field', async () => {
    const scene = await open();
    const chain = (selector: Record<string, string>): Builder =>
      scene
        .builder({ onImmutable: 'recreate' })
        .statefulSet({ name: 'set', podSpec, replicas: 0, selector })
        .deployment({ name: 'web', podSpec, replicas: 0, selector });
    await chain({ a: '1', b: '2' }).reconcileDeployOrSts();
    await scene.target.eventually(async () => {
      const results = await chain({ a: '1' }).plan();
      const path = 'spec.selector.matchLabels.b';
      expect(results.objects.map(({ immutable }) => immutable)).to.deep.equal([[path], [path]]);
    });
    const [set] = await chain({ a: '1' }).reconcile();
    expect(set?.operation).to.equal('recreated');
  });

  it('the builder fails if the chain no longer sets clusterIP: None, and recreates the Service with onImmutable: recreate', async () => {
    const scene = await open();
    const chain = (onImmutable: Policy, spec: object): Builder =>
      scene.builder({ onImmutable }).service({
        ...{ name: 'web', spec: { selector: {}, ports: [{ port: 80 }], ...spec } },
      });
    await chain('fail', { clusterIP: 'None' }).reconcile();
    const [error] = await errorsOf(chain('fail', {}));
    expect(error?.code).to.equal('ImmutableField');
    expect(error?.message).to.include('spec.clusterIP ("None" to nothing)');
    const [planned] = (await chain('recreate', {}).plan()).objects;
    expect(planned).to.deep.include({ action: 'recreate', immutable: ['spec.clusterIP'] });
    const [result] = await chain('recreate', {}).reconcile();
    expect(result?.operation).to.equal('recreated');
    const { clusterIP = '' } = (await scene.get(Service, 'web')).spec ?? {};
    expect(clusterIP).to.match(/^\d/);
    expect(summary(await chain('fail', {}).reconcile())).to.deep.equal(['unchanged Service/web']);
  });

  it('the builder accepts a chain that stops setting clusterIP or clusterIPs of a headless Service, but not both', async () => {
    const scene = await open();
    const chain = (spec: object): Builder =>
      scene
        .builder()
        .service({ name: 'web', spec: { selector: {}, ports: [{ port: 80 }], ...spec } });
    const [single, list] = [{ clusterIP: 'None' }, { clusterIPs: ['None'] }];
    for (const kept of [single, list]) {
      await chain({ ...single, ...list }).reconcile();
      const [error] = await errorsOf(chain({}));
      expect(error?.message).to.include('spec.clusterIP (').and.include('spec.clusterIPs (');
      await chain(kept).reconcile();
      expect((await scene.get(Service, 'web')).spec).to.deep.include({ ...single, ...list });
      expect(summary(await chain(kept).reconcile())).to.deep.equal(['unchanged Service/web']);
    }
  });

  it('the builder makes a Service headless, and removes its ports', async () => {
    const scene = await open();
    const chain = (spec: object): Builder =>
      scene.builder({ onImmutable: 'recreate' }).service({
        ...{ name: 'web', spec: { selector: { app: 'web' }, ...spec } },
      });
    await chain({ ports: [{ port: 80 }] }).reconcile();
    const [result] = await chain({ clusterIP: 'None' }).reconcile();
    expect(result?.operation).to.equal('recreated');
    const { clusterIP, ports } = (await scene.get(Service, 'web')).spec ?? {};
    expect([clusterIP, ports]).to.deep.equal(['None', undefined]);
  });

  it('the builder keeps the address of a Service if the chain no longer sets its clusterIP', async () => {
    const scene = await open();
    const chain = (spec: object): Builder =>
      scene
        .builder()
        .service({ name: 'web', spec: { selector: {}, ports: [{ port: 80 }], ...spec } });
    await chain({}).reconcile();
    const { clusterIP = '' } = (await scene.get(Service, 'web')).spec ?? {};
    await chain({ clusterIP }).reconcile();
    expect(summary(await chain({}).reconcile())).to.deep.equal(['configured Service/web']);
    expect((await scene.get(Service, 'web')).spec?.clusterIP).to.equal(clusterIP);
    await scene
      .builder()
      .service({ name: 'none', spec: { selector: {}, clusterIP: 'None' } })
      .reconcile();
    const external = { type: 'ExternalName', externalName: 'db.example' } as const;
    const results = await scene.builder().service({ name: 'none', spec: external }).reconcile();
    expect(results.find(({ ref }) => ref.name === 'none')?.operation).to.equal('configured');
  });

  it('the builder recreates a StatefulSet and keeps its pods with onImmutable: recreateOrphan', async () => {
    const scene = await open();
    await scene.reconcileUntilDone(() => setOf(scene, 'one'));
    const { uid } = (await scene.get(Pod, 'web-0')).metadata;
    const set = (await scene.get(StatefulSet, 'web')).metadata.uid;
    await scene.reconcileUntilDone(() => setOf(scene, 'two', 'recreateOrphan'));
    expect((await scene.get(StatefulSet, 'web')).metadata.uid).not.to.equal(set);
    expect((await scene.get(Pod, 'web-0')).metadata.uid).to.equal(uid);
  });

  it('the builder refuses to recreate a StatefulSet whose new selector does not match the pods that would remain', async () => {
    const scene = await open();
    const chain = (selector: Record<string, string>): Builder =>
      scene
        .builder({ onImmutable: 'recreateOrphan' })
        .statefulSet({ name: 'web', podSpec, selector });
    await scene.reconcileUntilDone(() => chain({ a: '1' }));
    const { uid } = (await scene.get(StatefulSet, 'web')).metadata;
    const [error] = await errorsOf(chain({ a: '1', b: '2' }));
    expect(error?.code).to.equal('ImmutableField');
    expect(error?.message).to.include('selector does not match');
    expect((await scene.get(StatefulSet, 'web')).metadata.uid).to.equal(uid);
  });

  it('the builder prefers the onImmutable of the object to the onImmutable of the builder', async () => {
    const scene = await open();
    const chain = (serviceName: string): Builder =>
      scene.builder({ onImmutable: 'recreate' }).statefulSet({
        ...{ name: 'web', podSpec, onImmutable: 'fail' },
        spec: { serviceName },
      });
    await chain('one').reconcile();
    expect((await errorsOf(chain('two')))[0]?.code).to.equal('ImmutableField');
  });

  it('the builder detects changed immutable fields of all other kinds that have immutable fields', async () => {
    const scene = await open();
    const chain = (late: boolean): Builder => othersOf(scene, late);
    await chain(false).reconcile();
    const errors = await errorsOf(chain(true));
    const said = errors.map(({ code, message }) => [code, /applied: (\S+)/.exec(message)?.[1]]);
    expect(said).to.deep.equal([
      ['ImmutableField', 'roleRef.name'],
      ['ImmutableField', 'data.A'],
      ['ImmutableField', 'type'],
      ['ImmutableField', 'spec.clusterIP'],
      ['ImmutableField', 'spec.selector.matchLabels.late'],
      ['ImmutableField', 'spec.template.spec.containers[name=web].image'],
    ]);
  });

  it('the builder recreates objects of all other kinds with immutable fields', async () => {
    const scene = await open();
    await othersOf(scene, false).reconcile();
    const results = await othersOf(scene, true, 'recreate').reconcile();
    const recreated = results.filter(({ operation }) => operation === 'recreated');
    // The Job may be missing: if it still has a finalizer, a later reconcile recreates it.
    expect(recreated.map(({ ref }) => ref.kind)).to.include.members([
      ...['RoleBinding', 'ConfigMap', 'Secret', 'Service', 'Deployment'],
    ]);
    await scene.target.eventually(async () => {
      const again = await othersOf(scene, true, 'recreate').reconcile();
      expect(again.map(({ operation }) => operation)).to.deep.equal(again.map(() => 'unchanged'));
    });
    expect((await scene.get(RoleBinding, 'reader')).roleRef.name).to.equal('late');
    expect((await scene.get(ConfigMap, 'fixed')).data).to.deep.equal({ A: 'late' });
    expect((await scene.get(Secret, 'typed')).type).to.equal('example.com/late');
    expect((await scene.get(Service, 'web')).spec?.clusterIP).to.equal('None');
    expect((await scene.get(Deployment, 'web')).spec?.selector.matchLabels).to.have.property(
      'late',
    );
    const [container] = (await scene.get(Job, 'once')).spec?.template.spec?.containers ?? [];
    expect(container?.image).to.equal('registry.example/late:1');
  });

  it('the builder deletes an object only in the version that it read', async () => {
    const scene = await open();
    await setOf(scene, 'one').reconcile();
    const { uid } = (await scene.get(StatefulSet, 'web')).metadata;
    const inner = scene.operator.client;
    const deletions: NonNullable<DeleteOptions['preconditions']>[] = [];
    const client: Client = {
      ...forwarding(inner),
      delete: (type, key, options) => {
        deletions.push(options?.preconditions ?? {});
        return inner.delete(type, key, options);
      },
    };
    await scene
      .builder({ client, onImmutable: 'recreate' })
      .statefulSet({ name: 'web', podSpec, spec: { serviceName: 'two' } })
      .reconcile();
    // After a conflict with the StatefulSet controller, the builder reads the StatefulSet and deletes it again.
    expect(deletions).not.to.deep.equal([]);
    for (const preconditions of deletions) {
      expect(preconditions).to.have.all.keys('uid', 'resourceVersion').and.to.include({ uid });
    }
  });

  it('the builder reports invalid data as invalid, not as immutable', async () => {
    const scene = await open();
    const chain = (key: string): Builder =>
      scene.builder({ onImmutable: 'recreate' }).configMap({ name: 'env', data: { [key]: '1' } });
    await chain('a').reconcile();
    const [error] = await errorsOf(chain('not a key'));
    expect(error?.code).to.equal('Terminal');
    expect(error?.message).not.to.include('recreated');
  });

  it('the builder keeps objects that depend on a recreated object pending until that object exists again', async () => {
    const scene = await open();
    const chain = (value: string): Builder =>
      scene
        .builder({ onImmutable: 'recreate' })
        .configMap({ name: 'env', data: { A: value }, immutable: true })
        .deployment({ name: 'web', podSpec, rolloutOn: ['env'] });
    await chain('1').reconcile();
    const finalizers = ['example.com/held'];
    await scene.edit(ConfigMap, 'env', { body: { metadata: { finalizers } } });
    const waiting = await chain('2').reconcile();
    expect(summary(waiting)).to.deep.equal(['pending ConfigMap/env', 'pending Deployment/web']);
    expect(waiting[1]?.reason).to.match(/waits for ConfigMap .*env, which is pending/);
    await scene.edit(ConfigMap, 'env', { body: { metadata: { finalizers: null } } });
    expect(summary(await chain('2').reconcile())).to.deep.equal([
      'created ConfigMap/env',
      'configured Deployment/web',
    ]);
  });

  it('the builder reports the invalid field if the server rejects a change of a mutable field', async () => {
    const scene = await open();
    await setOf(scene, 'one').reconcile();
    const invalid = scene
      .builder({ onImmutable: 'recreate' })
      .statefulSet({ name: 'web', podSpec, spec: { replicas: -1, serviceName: 'one' } });
    const [error] = await errorsOf(invalid);
    expect(error?.code).to.equal('Terminal');
    expect(error?.message).to.include('spec.replicas');
    expect(summary(await setOf(scene, 'one').reconcile())).to.deep.equal([
      'unchanged StatefulSet/web',
    ]);
  });
}

function othersOf(scene: Scene, late: boolean, onImmutable: 'fail' | 'recreate' = 'fail'): Builder {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role' };
  return scene
    .builder({ onImmutable })
    .roleBinding({
      name: 'reader',
      roleRef: { ...roleRef, name: late ? 'late' : 'early' },
      subjects: [{ kind: 'ServiceAccount', name: 'web' }],
    })
    .configMap({ name: 'fixed', data: { A: late ? 'late' : 'early' }, immutable: true })
    .secret({ name: 'typed', type: `example.com/${late ? 'late' : 'early'}` })
    .service({
      name: 'web',
      // With its own selector the Service need not wait for the pods of the other Deployment.
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }], ...(late && { clusterIP: 'None' }) },
    })
    .deployment({
      name: 'web',
      podSpec,
      selector: { app: 'web', ...(late && { late: 'yes' }) },
    })
    .job({
      name: 'once',
      podSpec: {
        containers: [{ name: 'web', image: `registry.example/${late ? 'late' : 'early'}:1` }],
      },
    });
}
