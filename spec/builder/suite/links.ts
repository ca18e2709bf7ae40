import { expect } from 'chai';
import type { Builder } from '../../../lib/builder/index.js';
import { DaemonSet, Deployment, StatefulSet } from '../../../lib/object/kinds.js';
import type { OpenScene } from './builder-suite.js';
import { claimSpec, podSpec } from './scene.js';
import type { Scene } from './scene.js';

const deploymentOptions = {
  replicas: 0,
  minReadySeconds: 7,
  progressDeadlineSeconds: 70,
  strategy: { type: 'Recreate' },
} as const;

const setOptions = {
  replicas: 0,
  minReadySeconds: 7,
  podManagementPolicy: 'Parallel',
  serviceName: 'store',
  updateStrategy: { type: 'OnDelete' },
  persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
  volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec }],
} as const;

const daemonOptions = { minReadySeconds: 7, updateStrategy: { type: 'OnDelete' } } as const;

/** Defines the behaviour of single links: the fields that they write, and references to other links. */
export function linksSuite(open: OpenScene): void {
  it('the builder refers to chained ConfigMaps, Secrets and claims in every way that a container can', async () => {
    const scene = await open();
    const long = `a.${'b'.repeat(70)}`;
    const chain = scene
      .builder()
      .configMap({ name: 'env', data: { A: '1' } })
      .secret({ name: long, stringData: { B: '2' } })
      .persistentVolumeClaim({ name: 'stage', spec: claimSpec })
      .deployment({
        name: 'web',
        replicas: 0,
        podSpec: (refer) => {
          const mounts = [
            refer.mountConfigMap('env', { mountPath: '/env' }),
            refer.mountSecret(long, {
              ...{ mountPath: '/secret', subPath: 'B', readOnly: false },
              ...{ items: [{ key: 'B', path: 'B' }], defaultMode: 0o400 },
            }),
            refer.mountClaim('stage', { mountPath: '/stage', volumeName: 'data', readOnly: true }),
          ];
          return {
            volumes: mounts.map(({ volume }) => volume),
            containers: [
              {
                ...{ name: 'web', image: 'registry.example/web:1' },
                volumeMounts: mounts.map(({ volumeMount }) => volumeMount),
                envFrom: [refer.envFromConfigMap('env', 'C_'), refer.envFromSecret(long, 'S_')],
                env: [refer.envOfConfigMap('A', 'env', 'A'), refer.envOfSecret('B', long, 'B')],
              },
            ],
          };
        },
      });
    await chain.reconcile();
    const { volumes, containers } = (await scene.get(Deployment, 'web')).spec?.template.spec ?? {};
    const [first, second, third] = volumes ?? [];
    expect(first).to.deep.include({ name: 'env', configMap: { name: 'env', defaultMode: 420 } });
    const items = [{ key: 'B', path: 'B' }];
    expect(second?.secret).to.deep.equal({ secretName: long, items, defaultMode: 0o400 });
    expect(second?.name)
      .to.match(/^a-b+-?\w*$/)
      .and.to.have.length.at.most(63);
    expect(third).to.deep.equal({ name: 'data', persistentVolumeClaim: { claimName: 'stage' } });
    const [container] = containers ?? [];
    expect(container?.volumeMounts).to.deep.equal([
      { name: 'env', mountPath: '/env', readOnly: true },
      { name: second?.name, mountPath: '/secret', subPath: 'B' },
      { name: 'data', mountPath: '/stage', readOnly: true },
    ]);
    expect(container?.envFrom).to.deep.equal([
      { prefix: 'C_', configMapRef: { name: 'env' } },
      { prefix: 'S_', secretRef: { name: long } },
    ]);
    expect(container?.env?.slice(0, 2)).to.deep.equal([
      { name: 'A', valueFrom: { configMapKeyRef: { name: 'env', key: 'A' } } },
      { name: 'B', valueFrom: { secretKeyRef: { name: long, key: 'B' } } },
    ]);
  });

  it('the builder refuses a reference to an object that the chain does not have', async () => {
    const scene = await open();
    const name: string = 'absent';
    for (const way of ['envOfConfigMap', 'envOfSecret', 'mountConfigMap', 'mountSecret'] as const) {
      const chain = scene.builder().deployment({
        name: 'web',
        podSpec: (refer) => {
          const more = way.startsWith('mount')
            ? { volumes: [refer[way as 'mountSecret'](name, { mountPath: '/a' }).volume] }
            : {};
          const env = way.startsWith('env') ? [refer[way as 'envOfSecret']('A', name, 'a')] : [];
          return { ...more, containers: [{ name: 'web', image: 'registry.example/web:1', env }] };
        },
      });
      const error: unknown = await chain.reconcile().catch((thrown: unknown) => thrown);
      expect(String(error)).to.match(new RegExp(`${way} names (ConfigMap|Secret) absent`));
    }
  });

  it('the builder writes every option of a workload into its spec, where the option overrides the same field of spec', async () => {
    const scene = await open();
    const chain = scene
      .builder()
      .service({ name: 'store', spec: { clusterIP: 'None' } })
      .deployment({ ...{ name: 'web', podSpec }, ...deploymentOptions, spec: { paused: true } })
      .statefulSet({ ...{ name: 'store', podSpec }, ...setOptions, spec: { minReadySeconds: 1 } })
      .daemonSet({ ...{ name: 'agent', podSpec }, ...daemonOptions });
    await chain.reconcile();
    const deployment = (await scene.get(Deployment, 'web')).spec;
    expect(deployment).to.deep.include({ ...deploymentOptions, paused: true });
    const set = (await scene.get(StatefulSet, 'store')).spec;
    const { volumeClaimTemplates, ...rest } = setOptions;
    expect(set).to.deep.include(rest);
    expect(set?.volumeClaimTemplates?.map(({ metadata }) => metadata?.name)).to.deep.equal(
      volumeClaimTemplates.map(({ metadata }) => metadata.name),
    );
    expect((await scene.get(DaemonSet, 'agent')).spec).to.deep.include(daemonOptions);
  });

  it('the builder creates an object of every kind that it has a method for', async () => {
    const scene = await open();
    const chain = (): Builder => everyKind(scene);
    const created = await chain().reconcile();
    expect(created.map(({ operation }) => operation)).to.deep.equal(created.map(() => 'created'));
    expect(created).to.have.length(17);
    const again = await chain().reconcile();
    expect(again.map(({ operation }) => operation)).to.deep.equal(again.map(() => 'unchanged'));
  });
}

function everyKind(scene: Scene): Builder {
  const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' };
  return scene
    .builder()
    .serviceAccount({ name: 'web', automountServiceAccountToken: false })
    .role({ name: 'reader', rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] })
    .roleBinding({
      name: 'reader',
      roleRef: role,
      subjects: [{ kind: 'ServiceAccount', name: 'web' }],
    })
    .configMap({ name: 'env', data: { A: '1' }, binaryData: { B: 'AA==' } })
    .secret({ name: 'token', stringData: { a: '1' } })
    .service({ name: 'web', spec: { ports: [{ port: 80 }] } })
    .persistentVolumeClaim({ name: 'data', spec: claimSpec })
    .networkPolicy({ name: 'deny', spec: { podSelector: {}, policyTypes: ['Ingress'] } })
    .deployment({ name: 'web', podSpec })
    .statefulSet({ name: 'store', serviceName: 'web', podSpec })
    .daemonSet({ name: 'agent', podSpec })
    .job({ name: 'once', podSpec })
    .cronJob({ name: 'nightly', schedule: '0 3 * * *', podSpec })
    .podDisruptionBudget({
      name: 'web',
      spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } },
    })
    .horizontalPodAutoscaler({
      name: 'web',
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      },
    })
    .ingress({
      name: 'web',
      spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
    })
    .object({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'elsewhere' },
    });
}
