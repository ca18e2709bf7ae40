import { expect } from 'chai';
import type { ObjectResult } from '../../../lib/apply/index.js';
import type { Builder, BuilderOptions } from '../../../lib/builder/index.js';
import { forwarding } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import {
  ConfigMap,
  Deployment,
  PersistentVolumeClaim,
  Secret,
  Service,
  StatefulSet,
} from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import type { OpenScene } from './builder-suite.js';
import { claimSpec, podSpec, summary, usedKinds, withCache } from './scene.js';
import type { Scene } from './scene.js';
import { versionOf } from './target.js';

/** Returns the smallest tenant: a chain of four objects. */
function tenant(scene: Scene, address = '0.0.0.0', options: Partial<BuilderOptions> = {}): Builder {
  return scene
    .builder(options)
    .configMap({ name: 'env', data: { ADDRESS: address } })
    .service({ name: 'web', spec: { ports: [{ port: 80, targetPort: 8000 }] } })
    .persistentVolumeClaim({ name: 'stage', spec: claimSpec })
    .statefulSet({
      name: 'web',
      replicas: 1,
      serviceName: 'web',
      podSpec: ({ envFromConfigMap, mountClaim }) => {
        const { volume, volumeMount } = mountClaim('stage', { mountPath: '/stage' });
        return {
          volumes: [volume],
          containers: [
            {
              name: 'web',
              image: 'registry.example/web:1',
              envFrom: [envFromConfigMap('env')],
              // The server normalizes these values, which must not look like a change.
              env: [{ name: 'EMPTY', value: '' }],
              ports: [{ containerPort: 8000 }],
              resources: { requests: { cpu: '1000m', memory: '0.5Gi' } },
              volumeMounts: [volumeMount],
            },
          ],
        };
      },
    });
}

const all = [
  ['ConfigMap', 'env'],
  ['Service', 'web'],
  ['PersistentVolumeClaim', 'stage'],
  ['StatefulSet', 'web'],
].map(([kind = '', name = '']) => `${kind}/${name}`);

async function versions(scene: Scene): Promise<readonly unknown[]> {
  const objects: KubernetesObject[] = await Promise.all([
    scene.get(ConfigMap, 'env'),
    scene.get(Service, 'web'),
    scene.get(PersistentVolumeClaim, 'stage'),
    scene.get(StatefulSet, 'web'),
  ]);
  return objects.map(({ metadata }) => versionOf(metadata));
}

/** Returns a chain whose optional members are those of `left`, which are undefined or absent. */
function withMembersLeft(scene: Scene, left: Readonly<Record<string, undefined>>): Builder {
  const ports = [{ port: 80, ...left }];
  return scene
    .builder()
    .configMap({ name: 'env', data: { A: '1', ...left }, labels: { a: 'b', ...left } })
    .secret({ name: 'token', stringData: { token: 'x', ...left } })
    .service({ name: 'web', annotations: left, spec: { ports, ...left } })
    .deployment({
      ...{ name: 'web', podLabels: { a: 'b', ...left }, podAnnotations: left },
      podSpec: { containers: [{ name: 'web', image: 'registry.example/web:1', ...left }] },
      ...{ envFromConfigMap: ['env'], envFromSecret: ['token'] },
    })
    .object({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'more', labels: left } },
      ...{ data: { A: '1', ...left } },
    } as unknown as ConfigMap);
}

/** Specs about creating objects, leaving them unchanged and changing them. */
export function applyingSuite(open: OpenScene): void {
  it('the builder passes each result to onResult once, except the results of failed objects', async () => {
    const scene = await open();
    const told: ObjectResult[] = [];
    const chain = (name: string, data: object = {}): Builder =>
      scene
        .builder({ onResult: (result) => void told.push(result) })
        .configMap({ name, data: { ...data } })
        .secret({ name: 'token', stringData: { a: 'b' } });
    const first = await chain('old').reconcile();
    expect(told.splice(0)).to.have.deep.members([...first]);
    const second = await chain('new').reconcile();
    expect(summary(second)).to.include('deleted ConfigMap/old');
    expect(told.splice(0)).to.have.deep.members([...second]);
    const failure: unknown = await chain('new', { a: 1 })
      .reconcile()
      .catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error);
    expect(summary(told)).to.deep.equal(['unchanged Secret/token']);
  });

  it('the builder treats fields with the value undefined as absent, in hashes and in requests', async () => {
    const scene = await open();
    const made = await withMembersLeft(scene, { type: undefined, name2: undefined }).reconcile();
    expect(summary(made).every((each) => each.startsWith('created '))).to.equal(true);
    expect(Object.keys((await scene.get(ConfigMap, 'env')).data ?? {})).to.deep.equal(['A']);
    await scene.writes();
    const again = await withMembersLeft(scene, {}).reconcile();
    expect(await scene.writes()).to.deep.equal([]);
    const changed = summary(again).filter((each) => !/^(unchanged|pending) /.test(each));
    expect(changed).to.deep.equal([]);
  });

  it('the builder creates four objects with four writes', async () => {
    const scene = await open();
    const results = await tenant(scene).reconcile();
    expect(summary(results)).to.deep.equal(all.map((name) => `created ${name}`));
    expect(await scene.writes()).to.deep.equal([
      'patch configmaps/env',
      'patch persistentvolumeclaims/stage',
      'patch services/web',
      'patch statefulsets/web',
    ]);
  });

  it('the builder writes nothing and reports every object as unchanged when the chain is reconciled again', async () => {
    const scene = await open();
    await scene.reconcileUntilDone(() => tenant(scene));
    const before = await versions(scene);
    await scene.writes();
    const results = await tenant(scene).reconcile();
    expect(summary(results)).to.deep.equal(all.map((name) => `unchanged ${name}`));
    expect(await scene.writes()).to.deep.equal([]);
    expect(await versions(scene)).to.deep.equal(before);
  });

  it('the builder sends no request for an unchanged chain if its client has a cache', async () => {
    const scene = await open();
    await scene.reconcileUntilDone(() => tenant(scene));
    // The cache is new, as after a restart.
    const cached = await withCache(scene.operator.client, usedKinds);
    await scene.operator.requests();
    const results = await tenant(scene, '0.0.0.0', { client: cached.client }).reconcile();
    const requests = await scene.operator.requests();
    await cached.stop();
    expect(summary(results)).to.deep.equal(all.map((name) => `unchanged ${name}`));
    expect(requests.filter(({ verb }) => verb !== 'watch')).to.deep.equal([]);
  });

  it('the builder sends only writes to create and change objects if its client has a cache', async () => {
    const scene = await open();
    const cached = await withCache(scene.operator.client, usedKinds);
    const chain = (address: string): Builder => tenant(scene, address, { client: cached.client });
    await scene.operator.requests();
    await chain('0.0.0.0').reconcile();
    const created = await scene.operator.requests();
    await chain('0.0.0.0').reconcile();
    const again = await scene.operator.requests();
    await scene.reconcileUntilDone(() => chain('0.0.0.0'));
    await scene.operator.requests();
    await chain('::1').reconcile();
    const changed = await scene.operator.requests();
    await cached.stop();
    const verbs = (requests: typeof created): string[] => requests.map(({ verb }) => verb);
    expect(verbs(created)).to.deep.equal(['patch', 'patch', 'patch', 'patch']);
    expect(verbs(again)).to.deep.equal([]);
    expect(verbs(changed)).to.deep.equal(['patch', 'patch']);
  });

  it('the builder changes a ConfigMap and the workload that uses it with two writes', async () => {
    const scene = await open();
    await scene.reconcileUntilDone(() => tenant(scene));
    await scene.writes();
    const results = await tenant(scene, '::1').reconcile();
    expect(await scene.writes()).to.deep.equal(['patch configmaps/env', 'patch statefulsets/web']);
    const [configMap, , , workload] = results;
    expect(configMap?.changes).to.deep.equal([
      { path: 'data.ADDRESS', from: '0.0.0.0', to: '::1' },
    ]);
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: scene.namespace, name: 'env' };
    expect(workload?.causes).to.deep.equal([ref]);
  });

  it('the builder sets owner, labels and hash on each object, but does not add these labels to its pods', async () => {
    const scene = await open();
    await tenant(scene, '0.0.0.0', { labels: { team: 'blue', version: '7' } }).reconcile();
    const { metadata, spec } = await scene.get(StatefulSet, 'web');
    const { apiVersion, kind } = scene.owner;
    const { name, uid } = scene.owner.metadata;
    expect(metadata.ownerReferences).to.deep.equal([
      { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true },
    ]);
    expect(metadata.labels).to.deep.equal({
      'app.kubernetes.io/name': 'configmap',
      'app.kubernetes.io/instance': 'shop',
      'app.kubernetes.io/managed-by': 'shop-operator',
      team: 'blue',
      version: '7',
    });
    expect(metadata.annotations?.['operator-builder.io/applied-hash']).to.match(/^[0-9a-f]{64}$/);
    expect(spec?.template.metadata?.labels).to.deep.equal({
      'operator-builder.io/workload': 'statefulset.web',
    });
  });

  it('the builder rolls no pod when only the labels of the operator change', async () => {
    const scene = await open();
    const chain = (version: string): Builder =>
      tenant(scene, '0.0.0.0', { labels: { 'app.kubernetes.io/version': version } });
    await scene.reconcileUntilDone(() => chain('1'));
    const before = await scene.get(StatefulSet, 'web');
    await chain('2').reconcile();
    const after = await scene.get(StatefulSet, 'web');
    expect(after.metadata.labels?.['app.kubernetes.io/version']).to.equal('2');
    expect(after.spec?.template).to.deep.equal(before.spec?.template);
    expect(after.status?.updateRevision).to.equal(before.status?.updateRevision);
  });

  it('the builder defaults the selector of a Service to the workload of the same name', async () => {
    const scene = await open();
    const external = { type: 'ExternalName', externalName: 'shop.example.com' };
    await scene
      .builder()
      .service({ name: 'web', spec: { ports: [{ port: 80 }] } })
      .service({ name: 'admin', workload: 'web', spec: { ports: [{ port: 81 }] } })
      .service({ name: 'none', spec: { selector: {}, ports: [{ port: 82 }] } })
      .service({ name: 'elsewhere', workload: 'web', spec: external })
      .service({ name: 'own', spec: { ports: [{ port: 83 }], selector: { a: 'b' } } })
      .deployment({ name: 'web', podSpec })
      .reconcile();
    const selectorOf = async (name: string): Promise<unknown> =>
      (await scene.get(Service, name)).spec?.selector;
    const selector = { 'operator-builder.io/workload': 'deployment.web' };
    expect(await selectorOf('web')).to.deep.equal(selector);
    expect(await selectorOf('admin')).to.deep.equal(selector);
    expect(await selectorOf('none')).to.equal(undefined);
    expect(await selectorOf('elsewhere')).to.equal(undefined);
    expect(await selectorOf('own')).to.deep.equal({ a: 'b' });
  });

  it('the builder removes a field and a list entry that are no longer desired', async () => {
    const scene = await open();
    const chain = (more: boolean): Builder =>
      scene
        .builder()
        .configMap({ name: 'env', data: { A: '1', ...(more && { B: '2' }) } })
        .deployment({
          name: 'web',
          podSpec: {
            containers: [
              {
                name: 'web',
                image: 'registry.example/web:1',
                env: [{ name: 'A', value: '1' }, ...(more ? [{ name: 'B', value: '2' }] : [])],
                ...(more && { workingDir: '/srv' }),
              },
            ],
          },
        });
    await chain(true).reconcile();
    await chain(false).reconcile();
    expect((await scene.get(ConfigMap, 'env')).data).to.deep.equal({ A: '1' });
    const container = (await scene.get(Deployment, 'web')).spec?.template.spec?.containers[0];
    expect(container?.env).to.deep.equal([{ name: 'A', value: '1' }]);
    expect(container?.workingDir).to.equal(undefined);
  });

  it('the builder removes a key that was set with stringData', async () => {
    const scene = await open();
    const chain = (stringData: Record<string, string>): Builder =>
      scene.builder().secret({ name: 'token', stringData });
    await chain({ a: '1', b: '2' }).reconcile();
    await chain({ a: '1' }).reconcile();
    expect((await scene.get(Secret, 'token')).data).to.deep.equal({ a: 'MQ==' });
    expect(summary(await chain({ a: '1' }).reconcile())).to.deep.equal(['unchanged Secret/token']);
  });

  it('the builder never shows the values of a Secret in results or events', async () => {
    const scene = await open();
    const chain = (password: string): Builder =>
      scene.builder().secret({ name: 'token', stringData: { password } });
    await chain('hunter2').reconcile();
    const results = await chain('correct horse').reconcile();
    expect(results[0]?.changes.map(({ path }) => path)).to.deep.equal(['data.password']);
    const told = JSON.stringify([results, scene.events]);
    for (const value of ['hunter2', 'aHVudGVyMg==', 'correct horse', 'Y29ycmVjdCBob3JzZQ==']) {
      expect(told).not.to.include(value);
    }
  });

  it('the builder drops the status of an object, and treats null as absent', async () => {
    const scene = await open();
    const object = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web' },
    };
    const spec = { minAvailable: 1, selector: { matchLabels: { a: 'b' } } };
    const chain = (more: object): Builder => scene.builder().object({ ...object, ...more });
    const read = { spec: { ...spec, maxUnavailable: null }, status: { currentHealthy: 7 } };
    await chain(read).reconcile();
    expect(summary(await chain(read).reconcile())).to.deep.equal([
      'unchanged PodDisruptionBudget/web',
    ]);
    expect(summary(await chain({ spec }).reconcile())).to.deep.equal([
      'unchanged PodDisruptionBudget/web',
    ]);
  });

  it('the builder treats null as absent in pod templates and in hashed data', async () => {
    const scene = await open();
    const [container] = podSpec.containers;
    const bare = { env: null, envFrom: null, ports: null, ...container };
    const spec = {
      containers: [bare],
      initContainers: null,
      volumes: null,
      imagePullSecrets: null,
    };
    const chain = (): Builder =>
      scene
        .builder()
        .configMap({ name: 'env', data: { A: null } as never, binaryData: null as never })
        .secret({ name: 'token', stringData: { t: null } as never })
        .service({ name: 'web', spec: { ports: [{ port: 80 }], clusterIP: null } as never })
        .deployment({
          ...{ name: 'web', rolloutOn: ['env', 'token'] },
          podTemplate: { metadata: null, spec } as never,
        });
    const plan = await chain().plan();
    expect(plan.objects.map(({ action }) => action)).to.deep.equal([
      ...['create', 'create', 'create', 'create'],
    ]);
    await scene.reconcileUntilDone(chain);
    const results = await chain().reconcile();
    expect(new Set(results.map(({ operation }) => operation))).to.deep.equal(
      new Set(['unchanged']),
    );
  });

  it('the builder needs no discovery for kinds that it has a method for', async () => {
    const scene = await open();
    const resourceType = (): Promise<never> => Promise.reject(new Error('discovery was asked'));
    const client = { ...forwarding(scene.operator.client), resourceType };
    const chain = tenant(scene, '0.0.0.0', { client }).object({
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'token' } },
    });
    expect(await chain.reconcile()).to.have.length(5);
  });

  it('the builder applies an object after the objects that it depends on, whatever the order of the chain', async () => {
    const scene = await open();
    const order: string[] = [];
    const inner = scene.operator.client;
    const client: Client = {
      ...forwarding(inner),
      apply: async (object, options) => {
        order.push(`begin ${object.kind}`);
        const applied = await inner.apply(object, options);
        order.push(`end ${object.kind}`);
        return applied;
      },
    };
    await scene
      .builder({ client })
      .roleBinding({
        name: 'reader',
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
        subjects: [],
      })
      .role({ name: 'reader', rules: [] })
      .reconcile();
    expect(order).to.deep.equal(['begin Role', 'end Role', 'begin RoleBinding', 'end RoleBinding']);
  });

  it('the builder creates an object again if it was deleted after the read', async () => {
    const scene = await open();
    const chain = (client: Client): Builder =>
      scene.builder({ client }).configMap({ name: 'env', data: { A: '2' } });
    await scene
      .builder()
      .configMap({ name: 'env', data: { A: '1' } })
      .reconcile();
    const stale = await scene.get(ConfigMap, 'env');
    await scene.admin.delete(ConfigMap, { namespace: scene.namespace, name: 'env' });
    const inner = scene.operator.client;
    let reads = 0;
    const get = (async (...call: Parameters<Client['get']>) =>
      reads++ === 0 ? stale : inner.get(...call)) as Client['get'];
    const results = await chain({ ...forwarding(inner), get }).reconcileConfigMap();
    expect(summary(results)).to.deep.equal(['created ConfigMap/env']);
    expect((await scene.get(ConfigMap, 'env')).metadata.uid).not.to.equal(stale.metadata.uid);
  });

  it('the builder reconciles only the objects of one kind or group with each method, such as reconcileConfigMap', async () => {
    const scene = await open();
    const builder = tenant(scene)
      .networkPolicy({ name: 'web', spec: { podSelector: {} } })
      .object({
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: { name: 'rest' },
        spec: { limits: [] },
      } as KubernetesObject);
    expect(summary(await builder.reconcileConfigMap())).to.deep.equal(['created ConfigMap/env']);
    expect(summary(await builder.reconcileService())).to.deep.equal(['created Service/web']);
    expect(summary(await builder.reconcileStorage())).to.deep.equal([
      'created PersistentVolumeClaim/stage',
    ]);
    expect(summary(await builder.reconcileDeployOrSts())).to.deep.equal([
      'created StatefulSet/web',
    ]);
    expect(summary(await builder.reconcileNetworkPolicy())).to.deep.equal([
      'created NetworkPolicy/web',
    ]);
    expect(summary(await builder.reconcileObjects())).to.deep.equal(['created LimitRange/rest']);
    expect(summary(await builder.reconcileStore())).to.deep.equal([]);
  });
}
