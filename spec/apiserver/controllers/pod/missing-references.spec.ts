import { expect } from 'chai';
import type { ConfigMap } from '../../../../lib/object/kinds.js';
import { Deployment, Event, Pod, Secret } from '../../../../lib/object/kinds.js';
import { simulatedCluster, stopSimulatedClusters } from '../simulated-cluster.js';
import { deployment, pod } from '../workload-objects.js';

type Spec = NonNullable<Pod['spec']>;
type Container = Spec['containers'][number];

describe('a pod whose ConfigMap or Secret is missing', () => {
  afterEach(stopSimulatedClusters);

  const withEnvironment = (fields: Partial<Container>): Partial<Spec> => ({
    containers: [{ name: 'main', image: 'app', ...fields }],
  });
  const withVolume = (volume: object): Partial<Spec> => ({ volumes: [{ name: 'v', ...volume }] });
  const fromSecret = { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'db', key: 'pw' } } };

  async function start(spec: Partial<Spec>) {
    const { client, clock, cluster, get } = await simulatedCluster();
    const template = pod('p');
    await client.create<Pod>({ ...template, spec: { ...template.spec!, ...spec } });
    const state = async (): Promise<string> => {
      await clock.advance(1_000);
      const { status } = await get(Pod, 'p');
      const { waiting } = status!.containerStatuses![0]!.state!;
      return [status!.phase, waiting?.reason, waiting?.message].filter(Boolean).join(' ');
    };
    const warnings = async (): Promise<string[]> => {
      const { items } = await client.list(Event, { namespace: 'default' });
      return items
        .filter(({ type, regarding }) => type === 'Warning' && regarding?.kind === 'Pod')
        .map(({ reason, note }) => `${reason}: ${note}`);
    };
    return { client, cluster, state, warnings };
  }

  const secret = (data: Record<string, string>): Secret => ({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db', namespace: 'default' } },
    stringData: data,
  });

  it('reports the missing object, then the missing key, and starts as soon as both exist', async () => {
    const { client, state, warnings } = await start(withEnvironment({ env: [fromSecret] }));
    expect(await state()).to.equal('Pending CreateContainerConfigError secret "db" not found');
    await client.create<Secret>(secret({ other: 'x' }));
    const message = "couldn't find key pw in Secret default/db";
    expect(await state()).to.equal(`Pending CreateContainerConfigError ${message}`);
    expect(await warnings()).to.deep.equal([
      'Failed: Error: secret "db" not found',
      `Failed: Error: ${message}`,
    ]);
    await client.update<Secret>(secret({ pw: 'x' }));
    expect(await state()).to.equal('Running');
  });

  for (const [what, spec] of Object.entries({
    'of envFrom': withEnvironment({ envFrom: [{ configMapRef: { name: 'c' } }] }),
    'of an init container': {
      initContainers: [{ name: 'init', image: 'a', envFrom: [{ configMapRef: { name: 'c' } }] }],
    },
  })) {
    it(`waits for a reference ${what}`, async () => {
      const { client, state, warnings } = await start(spec);
      expect(await state()).to.match(/^Pending/);
      expect(await warnings()).to.deep.equal(['Failed: Error: configmap "c" not found']);
      const metadata = { name: 'c', namespace: 'default' };
      await client.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
      expect(await state()).to.equal('Running');
    });
  }

  for (const [what, volume, problem] of [
    ['a Secret', { secret: { secretName: 'db' } }, 'secret "db" not found'],
    ['a ConfigMap', { configMap: { name: 'c' } }, 'configmap "c" not found'],
    [
      'a projected volume',
      { projected: { sources: [{ configMap: { name: 'c' } }] } },
      'configmap "c" not found',
    ],
  ] as const) {
    it(`mounts no volume of ${what} that does not exist`, async () => {
      const { state, warnings } = await start(withVolume(volume));
      expect(await state()).to.equal('Pending ContainerCreating');
      expect(await warnings()).to.deep.equal([
        `FailedMount: MountVolume.SetUp failed for volume "v" : ${problem}`,
      ]);
    });
  }

  const items = [{ key: 'tls.crt', path: 'crt' }];
  const inSecret = { secret: { secretName: 'db', items } };
  const inConfig = { configMap: { name: 'db', items } };
  for (const [what, volume, kind] of [
    ['a Secret', inSecret, 'secret'],
    ['a ConfigMap', inConfig, 'config'],
    [
      'a projected Secret',
      { projected: { sources: [{ secret: { name: 'db', items } }] } },
      'secret',
    ],
    ['a projected ConfigMap', { projected: { sources: [inConfig] } }, 'config'],
  ] as const) {
    it(`mounts no volume of ${what} until the ConfigMap or Secret has the key`, async () => {
      const { client, state, warnings } = await start(withVolume(volume));
      const head = { apiVersion: 'v1', kind: kind === 'secret' ? 'Secret' : 'ConfigMap' };
      const object = { ...head, metadata: { name: 'db', namespace: 'default' } };
      await client.create(object);
      expect(await state()).to.equal('Pending ContainerCreating');
      expect((await warnings()).at(-1)).to.equal(
        `FailedMount: MountVolume.SetUp failed for volume "v" : references non-existent ${kind} key: tls.crt`,
      );
      await client.update({ ...object, data: { 'tls.crt': 'eA==' } } as never);
      expect(await state()).to.equal('Running');
    });
  }

  it('starts if the reference is optional', async () => {
    const { state } = await start({
      ...withEnvironment({ envFrom: [{ secretRef: { name: 'db', optional: true } }] }),
      ...withVolume({ configMap: { name: 'c', optional: true } }),
    });
    expect(await state()).to.equal('Running');
  });

  it('keeps running if the ConfigMap or Secret is deleted later', async () => {
    const { client, state } = await start(withVolume({ secret: { secretName: 'db' } }));
    await client.create<Secret>(secret({}));
    expect(await state()).to.equal('Running');
    await client.delete(Secret, { name: 'db', namespace: 'default' });
    expect(await state()).to.equal('Running');
  });

  it('waits again after a snapshot from a time without the object is restored', async () => {
    const { client, cluster, state } = await start(withVolume({ secret: { secretName: 'db' } }));
    expect(await state()).to.equal('Pending ContainerCreating');
    const before = cluster.snapshot();
    await client.create<Secret>(secret({}));
    expect(await state()).to.equal('Running');
    cluster.restore(before);
    expect(await state()).to.equal('Pending ContainerCreating');
    await client.create<Secret>(secret({}));
    expect(await state()).to.equal('Running');
  });

  it('names the volume that cannot be mounted before its image is pulled', async () => {
    const { cluster, client, clock, get } = await simulatedCluster();
    cluster.pods.add({ match: { name: 'p' }, behavior: 'imagePullError' });
    const spec = { ...withVolume({ secret: { secretName: 'db' } }) };
    const env = withEnvironment({ envFrom: [{ configMapRef: { name: 'c' } }] });
    const template = pod('p');
    await client.create<Pod>({ ...template, spec: { ...template.spec!, ...spec, ...env } });
    const reason = async () => {
      await clock.advance(1_000);
      return (await get(Pod, 'p')).status!.containerStatuses![0]!.state!.waiting?.reason;
    };
    expect(await reason()).to.equal('ContainerCreating');
    await client.create<Secret>(secret({}));
    expect(await reason()).to.match(/ImagePull/);
  });

  it('starts with a volume of kube-root-ca.crt in a cluster that does not publish this ConfigMap', async () => {
    const items = [{ key: 'ca.crt', path: 'ca.crt' }];
    const { state } = await start(withVolume({ configMap: { name: 'kube-root-ca.crt', items } }));
    expect(await state()).to.equal('Running');
  });

  it('keeps its Deployment unavailable', async () => {
    const { client, clock, get } = await simulatedCluster();
    const web = deployment('web');
    web.spec!.template.spec!.containers[0]!.envFrom = [{ secretRef: { name: 'db' } }];
    await client.create<Deployment>(web);
    await clock.advance(1_000);
    expect((await get(Deployment, 'web')).status?.availableReplicas ?? 0).to.equal(0);
    await client.create<Secret>(secret({}));
    await clock.advance(1_000);
    expect((await get(Deployment, 'web')).status?.availableReplicas).to.equal(1);
  });
});

describe('a pod whose ServiceAccount is missing', () => {
  afterEach(() => stopSimulatedClusters(/service account/));

  const named = (serviceAccountName: string): Pod => {
    const template = pod('p');
    return { ...template, spec: { ...template.spec!, serviceAccountName } };
  };

  it('is refused with the message of a real server', async () => {
    const { client } = await simulatedCluster();
    const error: unknown = await client
      .create<Pod>(named('none'))
      .catch((reason: unknown) => reason);
    const message =
      'pods "p" is forbidden: error looking up service account default/none: serviceaccount "none" not found';
    expect(error).to.have.nested.property('body.message', message);
    expect(error).to.have.property('status', 403);
  });

  it('is accepted if the account is the default one of its namespace', async () => {
    const { create, get } = await simulatedCluster();
    await create(named('default'));
    expect((await get(Pod, 'p')).status?.phase).to.equal('Running');
  });

  it('is created by its Deployment as soon as the account exists', async () => {
    const { client, clock, create, get } = await simulatedCluster();
    const web = deployment('web');
    web.spec!.template.spec!.serviceAccountName = 'shop';
    await create(web);
    const { conditions = [] } = (await get(Deployment, 'web')).status!;
    const failure = conditions.find(({ type }) => type === 'ReplicaFailure');
    expect(failure?.message).to.contain('serviceaccount "shop" not found');
    const metadata = { name: 'shop', namespace: 'default' };
    await create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata });
    await clock.advance(60_000);
    expect((await get(Deployment, 'web')).status?.availableReplicas).to.equal(1);
    expect(await client.list(Pod))
      .to.have.property('items')
      .with.length(1);
  });

  it('is accepted by a cluster that creates no default accounts', async () => {
    const { create, get } = await simulatedCluster({ controllers: { serviceAccounts: false } });
    await create(named('none'));
    expect((await get(Pod, 'p')).status?.phase).to.equal('Running');
  });
});
