import { expect } from 'chai';
import type { Builder } from '../../../lib/builder/index.js';
import { configMapHash, secretHash } from '../../../lib/hash/index.js';
import {
  ConfigMap,
  CronJob,
  Deployment,
  Job,
  Pod,
  Secret,
  StatefulSet,
} from '../../../lib/object/kinds.js';
import type { OpenScene } from './builder-suite.js';
import { podSpec, summary } from './scene.js';
import type { Scene } from './scene.js';

type Env = readonly { readonly name: string; readonly value?: string }[] | undefined;

async function envOf(scene: Scene, name: string): Promise<Env> {
  return (await scene.get(Deployment, name)).spec?.template.spec?.containers[0]?.env;
}

const image = 'registry.example/web:1';

/** Specs about the changes that roll pods, and the pods that they roll. */
export function hashingSuite(open: OpenScene): void {
  it('the builder rolls only the pods of workloads that use the changed ConfigMap', async () => {
    const scene = await open();
    const chain = (a: string): Builder =>
      scene
        .builder()
        .configMap({ name: 'a', data: { A: a } })
        .configMap({ name: 'b', data: { B: '1' } })
        .deployment({
          name: 'uses-a',
          podSpec: ({ envFromConfigMap }) => ({
            containers: [{ name: 'web', image, envFrom: [envFromConfigMap('a')] }],
          }),
        })
        .statefulSet({
          name: 'uses-b',
          podSpec: ({ mountConfigMap }) => {
            const { volume, volumeMount } = mountConfigMap('b', { mountPath: '/b' });
            const containers = [{ name: 'web', image, volumeMounts: [volumeMount] }];
            return { volumes: [volume], containers };
          },
        })
        .deployment({ name: 'uses-none', podSpec });
    await scene.reconcileUntilDone(() => chain('1'));
    const podsBefore = await podsByWorkload(scene);
    await scene.writes();
    await scene.reconcileUntilDone(() => chain('2'));
    expect(await scene.writes()).to.deep.equal(['patch configmaps/a', 'patch deployments/uses-a']);
    const podsAfter = await scene.target.eventually(async () => {
      const pods = await podsByWorkload(scene);
      expect(pods.get('deployment.uses-a')).to.have.length(1);
      return pods;
    });
    const before = podsBefore.get('deployment.uses-a');
    expect(podsAfter.get('deployment.uses-a')).not.to.deep.equal(before);
    for (const name of ['statefulset.uses-b', 'deployment.uses-none']) {
      expect(podsAfter.get(name), name).to.deep.equal(podsBefore.get(name));
    }
  });

  it('the builder adds to the env of every container a hash variable for each reference, in sorted order', async () => {
    const scene = await open();
    await scene
      .builder()
      .configMap({ name: 'z-env', data: { A: '1' } })
      .configMap({ name: 'a.env', data: { A: '2' } })
      .configMap({ name: 'unused', data: { A: '3' } })
      .secret({ name: 'token', stringData: { t: 'x' } })
      .deployment({
        name: 'web',
        rolloutOn: ['token'],
        podSpec: ({ envFromConfigMap, mountConfigMap }) => {
          const { volume } = mountConfigMap('a.env', { mountPath: '/a' });
          return {
            volumes: [volume],
            initContainers: [{ name: 'init', image, envFrom: [envFromConfigMap('z-env')] }],
            containers: [{ name: 'web', image, env: [{ name: 'ZZZ', value: '1' }] }],
          };
        },
      })
      .reconcile();
    const salt = `${scene.owner.metadata.uid ?? ''}/token`;
    const stamps = [
      { name: 'CONFIGMAP_HASH_A_ENV', value: configMapHash({ data: { A: '2' } }) },
      { name: 'CONFIGMAP_HASH_Z_ENV', value: configMapHash({ data: { A: '1' } }) },
      { name: 'SECRET_HASH_TOKEN', value: secretHash({ stringData: { t: 'x' } }, salt) },
    ];
    const { spec } = (await scene.get(Deployment, 'web')).spec?.template ?? {};
    expect(spec?.containers[0]?.env).to.deep.equal([{ name: 'ZZZ', value: '1' }, ...stamps]);
    expect(spec?.initContainers?.[0]?.env).to.deep.equal(stamps);
  });

  it('the builder adds envFromConfigMap and envFromSecret to the containers, and rolls the pods when the data changes', async () => {
    const scene = await open();
    await scene
      .builder()
      .configMap({ name: 'env', data: { A: '1' } })
      .secret({ name: 'token', stringData: { T: '1' } })
      .deployment({ name: 'web', podSpec, envFromConfigMap: ['env'], envFromSecret: ['token'] })
      .reconcile();
    const [container] = (await scene.get(Deployment, 'web')).spec?.template.spec?.containers ?? [];
    expect(container?.envFrom).to.deep.equal([
      { configMapRef: { name: 'env' } },
      { secretRef: { name: 'token' } },
    ]);
    expect(container?.env?.map(({ name }) => name)).to.deep.equal([
      'CONFIGMAP_HASH_ENV',
      'SECRET_HASH_TOKEN',
    ]);
  });

  it('the builder changes no template when only the labels of a ConfigMap change', async () => {
    const scene = await open();
    const chain = (label: string): Builder =>
      scene
        .builder()
        .configMap({ name: 'env', data: { A: '1' }, labels: { label } })
        .deployment({ name: 'web', podSpec, rolloutOn: ['env'] });
    await chain('a').reconcile();
    const { metadata: before } = await scene.get(Deployment, 'web');
    expect(summary(await chain('b').reconcile())).to.deep.equal([
      'configured ConfigMap/env',
      'unchanged Deployment/web',
    ]);
    const { metadata: after } = await scene.get(Deployment, 'web');
    expect(after.generation).to.equal(before.generation);
  });

  it('the builder rolls the pods when a Secret changes, and not when the same Secret is applied again', async () => {
    const scene = await open();
    const chain = (password: string): Builder =>
      scene
        .builder()
        .secret({ name: 'token', stringData: { password } })
        .deployment({ name: 'web', podSpec, rolloutOn: ['token'] });
    await chain('1').reconcile();
    const first = await envOf(scene, 'web');
    expect(summary(await chain('1').reconcile())).to.include('unchanged Deployment/web');
    await chain('2').reconcile();
    expect(await envOf(scene, 'web')).not.to.deep.equal(first);
  });

  it('the builder does not change an existing Job when a ConfigMap changes, but updates the template of a CronJob', async () => {
    const scene = await open();
    const chain = (value: string): Builder =>
      scene
        .builder()
        .configMap({ name: 'env', data: { A: value } })
        .job({
          name: 'once',
          podSpec: ({ envFromConfigMap }) => ({
            containers: [{ name: 'job', image, envFrom: [envFromConfigMap('env')] }],
          }),
        })
        .cronJob({
          name: 'nightly',
          schedule: '0 3 * * *',
          podSpec: ({ envFromConfigMap }) => ({
            containers: [{ name: 'job', image, envFrom: [envFromConfigMap('env')] }],
          }),
        });
    await chain('1').reconcile();
    const { uid } = (await scene.get(Job, 'once')).metadata;
    expect(summary(await chain('2').reconcile())).to.deep.equal([
      'configured ConfigMap/env',
      'unchanged Job/once',
      'configured CronJob/nightly',
    ]);
    const job = await scene.get(Job, 'once');
    expect(job.metadata.uid).to.equal(uid);
    expect(job.spec?.template.spec?.containers[0]?.env).to.equal(undefined);
    const template = (await scene.get(CronJob, 'nightly')).spec?.jobTemplate.spec?.template;
    expect(template?.spec?.containers[0]?.env).to.deep.equal([
      { name: 'CONFIGMAP_HASH_ENV', value: configMapHash({ data: { A: '2' } }) },
    ]);
  });

  it('the builder rolls no pods when objects with rolloutOnChange: false change, unless rolloutOn of the workload names them', async () => {
    const scene = await open();
    const chain = (value: string, rolloutOnChange?: boolean): Builder =>
      scene
        .builder()
        .configMap({ name: 'rules', data: { A: value }, rolloutOnChange })
        .secret({ name: 'token', stringData: { A: value }, rolloutOnChange })
        .deployment({
          name: 'reads-again',
          podSpec: ({ mountConfigMap, envFromSecret }) => {
            const { volume, volumeMount } = mountConfigMap('rules', { mountPath: '/rules' });
            const envFrom = [envFromSecret('token')];
            const containers = [{ name: 'web', image, volumeMounts: [volumeMount], envFrom }];
            return { volumes: [volume], containers };
          },
        })
        .deployment({
          ...{ name: 'rolls', rolloutOn: ['rules'] },
          podSpec: { containers: [{ name: 'web', image }] },
        });
    await chain('1', false).reconcile();
    expect(await envOf(scene, 'reads-again')).to.equal(undefined);
    expect(await envOf(scene, 'rolls')).to.have.length(1);
    expect(summary(await scene.reconcileUntilDone(() => chain('2', false)))).to.not.include(
      'configured Deployment/reads-again',
    );
    expect(await envOf(scene, 'rolls')).to.deep.equal([
      { name: 'CONFIGMAP_HASH_RULES', value: configMapHash({ data: { A: '2' } }) },
    ]);
    await scene.reconcileUntilDone(() => chain('2'));
    expect(await envOf(scene, 'reads-again')).to.have.length(2);
    const wrong = (): unknown =>
      scene.builder().configMap({ name: 'rules', rolloutOnChange: 'no' as unknown as boolean });
    expect(wrong).to.throw(/^ConfigMap rules: rolloutOnChange: want true or false/);
  });

  it('the builder rolls the pods when a ConfigMap outside the chain changes, but only with followReferences', async () => {
    const scene = await open();
    const { namespace } = scene;
    const configMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace, name: 'theirs' },
    };
    await scene.admin.create<ConfigMap>({ ...configMap, data: { A: '1' } } as ConfigMap);
    const withTheirs = {
      containers: [{ name: 'web', image, envFrom: [{ configMapRef: { name: 'theirs' } }] }],
    };
    const chain = (): Builder =>
      scene
        .builder()
        .deployment({ name: 'follows', podSpec: withTheirs, followReferences: true })
        .deployment({ name: 'does-not', podSpec: withTheirs });
    await chain().reconcile();
    const hash = (value: string): Env => [
      { name: 'CONFIGMAP_HASH_THEIRS', value: configMapHash({ data: { A: value } }) },
    ];
    expect(await envOf(scene, 'follows')).to.deep.equal(hash('1'));
    expect(await envOf(scene, 'does-not')).to.equal(undefined);
    await scene.edit(ConfigMap, 'theirs', { body: { data: { A: '2' } } });
    await scene.reconcileUntilDone(chain);
    expect(await envOf(scene, 'follows')).to.deep.equal(hash('2'));
  });

  it('the builder rolls no pods while an object outside the chain that the pods need is missing', async () => {
    const scene = await open();
    const { namespace } = scene;
    const create = (): Promise<unknown> =>
      scene.admin.create<Secret>({
        ...{ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'theirs' } },
        data: { t: 'eA==' },
      });
    const remove = () => scene.admin.delete(Secret, { namespace, name: 'theirs' });
    const chain = (optional: boolean): Builder => {
      const envFrom = [{ secretRef: { name: 'theirs', optional } }];
      const containers = [{ name: 'web', image: 'registry.example/web:1', envFrom }];
      return scene.builder().deployment({
        ...{ name: 'web', podSpec: { containers }, followReferences: true },
      });
    };
    await create();
    await chain(false).reconcile();
    const stamped = await envOf(scene, 'web');
    expect(stamped).to.have.length(1);
    await remove();
    expect(summary(await chain(false).reconcile())).to.deep.equal(['unchanged Deployment/web']);
    const [planned] = (await chain(false).plan()).objects;
    expect(planned?.action).to.equal('unchanged');
    await create();
    expect(summary(await chain(false).reconcile())).to.deep.equal(['unchanged Deployment/web']);
    await scene.edit(Secret, 'theirs', { body: { data: { t: 'eQ==' } } });
    await chain(false).reconcile();
    expect(await envOf(scene, 'web')).not.to.deep.equal(stamped);
    // Pods start without an optional object, and then do not have its data.
    await remove();
    await chain(true).reconcile();
    expect(await envOf(scene, 'web')).to.equal(undefined);
  });

  it('the builder rolls no pods if a Secret is deleted and created again with the same data', async () => {
    const scene = await open();
    const chain = (): Builder =>
      scene
        .builder()
        .secret({ name: 'token', stringData: { t: 'x' } })
        .deployment({ name: 'web', podSpec, rolloutOn: ['token'] });
    await scene.reconcileUntilDone(chain);
    const before = (await scene.get(Secret, 'token')).metadata.uid;
    await scene.admin.delete(Secret, { namespace: scene.namespace, name: 'token' });
    expect(summary(await chain().reconcile())).to.deep.equal([
      'created Secret/token',
      'unchanged Deployment/web',
    ]);
    expect((await scene.get(Secret, 'token')).metadata.uid).not.to.equal(before);
    expect(summary(await chain().reconcile())).to.include('unchanged Deployment/web');
  });

  it('the builder rolls no pods because of data that is not applied yet, whatever the order of the reconcile methods', async () => {
    const scene = await open();
    const chain = (a: string): Builder =>
      scene
        .builder()
        .configMap({ name: 'env', data: { A: a } })
        .secret({ name: 'token', stringData: { t: a } })
        .deployment({ name: 'web', podSpec, rolloutOn: ['env', 'token'] });
    await chain('1').reconcile();
    const before = await envOf(scene, 'web');
    const changed = chain('2');
    expect(summary(await changed.reconcileDeployOrSts())).to.deep.equal([
      'unchanged Deployment/web',
    ]);
    expect(await envOf(scene, 'web')).to.deep.equal(before);
    await changed.reconcileConfigMap();
    expect(summary(await changed.reconcileDeployOrSts())).to.deep.equal([
      'configured Deployment/web',
    ]);
    const salt = `${scene.owner.metadata.uid ?? ''}/token`;
    const after = [
      { name: 'CONFIGMAP_HASH_ENV', value: configMapHash({ data: { A: '2' } }) },
      { name: 'SECRET_HASH_TOKEN', value: secretHash({ stringData: { t: '2' } }, salt) },
    ];
    expect(await envOf(scene, 'web')).to.deep.equal(after);
    expect(summary(await chain('2').reconcile())).to.include('unchanged Deployment/web');
  });

  it('the builder puts the hash of a missing ConfigMap into the template, so that its creation rolls no pods', async () => {
    const scene = await open();
    const chain = (): Builder =>
      scene
        .builder()
        .configMap({ name: 'env', data: { A: '1' } })
        .deployment({ name: 'web', podSpec, rolloutOn: ['env'] });
    await chain().reconcileDeployOrSts();
    expect(summary(await chain().reconcile())).to.deep.equal([
      'created ConfigMap/env',
      'unchanged Deployment/web',
    ]);
  });

  it('the builder sets distinct hash variables for two object names that give the same variable name, in either order', async () => {
    const scene = await open();
    const chain = (first: string, second: string): Builder =>
      scene
        .builder()
        .configMap({ name: first, data: { A: '1' } })
        .configMap({ name: second, data: { A: '1' } })
        .statefulSet({ name: 'web', podSpec, rolloutOn: [first, second] });
    await scene.reconcileUntilDone(() => chain('my-env', 'my.env'));
    const { env } = (await scene.get(StatefulSet, 'web')).spec?.template.spec?.containers[0] ?? {};
    const names = env?.map(({ name }) => name) ?? [];
    expect(names).to.have.length(2);
    for (const name of names) expect(name).to.match(/^CONFIGMAP_HASH_MY_ENV_[0-9A-F]{8}$/);
    expect(summary(await chain('my.env', 'my-env').reconcile())).to.include(
      'unchanged StatefulSet/web',
    );
  });
}

/** Maps the workload label to the UIDs of its pods, without those being deleted. */
async function podsByWorkload(scene: Scene): Promise<ReadonlyMap<string, readonly string[]>> {
  const { namespace } = scene;
  const { items } = await scene.admin.list(Pod, { namespace });
  const pods = new Map<string, string[]>();
  for (const { metadata } of items) {
    if (metadata.deletionTimestamp !== undefined) continue;
    const workload = metadata.labels?.['operator-builder.io/workload'] ?? '';
    pods.set(workload, [...(pods.get(workload) ?? []), metadata.uid ?? ''].sort());
  }
  return pods;
}
