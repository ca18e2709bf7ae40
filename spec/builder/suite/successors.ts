import { expect } from 'chai';
import { isReconcileFailed } from '../../../lib/apply/index.js';
import type { Builder } from '../../../lib/builder/index.js';
import { forwarding } from '../../../lib/client/index.js';
import type { CachingClient, Client } from '../../../lib/client/index.js';
import {
  ConfigMap,
  Deployment,
  PodDisruptionBudget,
  Service,
  StatefulSet,
} from '../../../lib/object/kinds.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import type { OpenScene } from './builder-suite.js';
import { podSpec, summary, usedKinds, withCache } from './scene.js';
import type { Scene } from './scene.js';

const ports = [{ port: 80 }];
const workloads: readonly ResourceType<Deployment | StatefulSet>[] = [Deployment, StatefulSet];

/** Specs about a workload with a new name or kind: the old one serves until the new one is ready. */
export function successorsSuite(open: OpenScene): void {
  it('the builder keeps ready pods behind a Service while its workload is replaced by one of another name', async () => {
    const scene = await open();
    const chain = (name: string, client: Client = scene.operator.client): Builder =>
      scene
        .builder({ client })
        .configMap({ name: `${name}-env` })
        .service({ name: 'front', workload: name, spec: { ports } })
        .deployment({ name, podSpec, envFromConfigMap: [`${name}-env`] });
    await scene.reconcileUntilDone(() => chain('old'));
    await hasReadyPods(scene, 'front', Deployment, 'old');
    const plan = await chain('new').plan();
    expect(
      plan.objects.map(({ action, ref }) => `${action} ${ref.kind}/${ref.name}`),
    ).to.include.members([
      'configure Service/front',
      'create Deployment/new',
      'wait Deployment/old',
    ]);
    const watched = watching(scene, 'front');
    const first = await chain('new', watched).reconcile();
    expect(summary(first)).to.include.members([
      'pending Service/front',
      'created Deployment/new',
      'pending Deployment/old',
      'pending ConfigMap/old-env',
    ]);
    const front = first.find(({ ref }) => ref.name === 'front');
    expect(front?.reason).to.match(
      /moves from Deployment .*old once Deployment .*new is rolled out/,
    );
    await scene.reconcileUntilDone(() => chain('new', watched));
    expect(await servedBy(scene, 'front')).to.deep.equal(['Deployment/new']);
    expect(await scene.find(Deployment, 'old')).to.equal(undefined);
    expect(await scene.find(ConfigMap, 'old-env')).to.equal(undefined);
  });

  for (const onlyOwned of [false, true])
    it(`the builder keeps ready pods behind a Service while its workload changes its kind${onlyOwned ? ', with onlyOwned' : ''}`, async () => {
      const scene = await open();
      const service = (client: Client): Builder =>
        scene.builder({ client, onlyOwned }).service({ name: 'web', spec: { ports } });
      const before = (): Builder =>
        service(scene.operator.client).deployment({ name: 'web', podSpec, podLabels: { a: 'b' } });
      await scene.reconcileUntilDone(before);
      await hasReadyPods(scene, 'web', Deployment, 'web');
      const watched = watching(scene, 'web');
      const after = (): Builder =>
        service(watched).statefulSet({ name: 'web', serviceName: 'web', podSpec });
      await scene.reconcileUntilDone(after);
      expect(await servedBy(scene, 'web')).to.deep.equal(['StatefulSet/web']);
      expect(await scene.find(Deployment, 'web')).to.equal(undefined);
    });

  it('the builder prunes at once what the pods of the old workload do not need, although that workload is not pruned yet', async () => {
    const scene = await open();
    const owns = [...usedKinds, PodDisruptionBudget];
    const chain = (name: string): Builder =>
      scene
        .builder({ owns })
        .configMap({ name: `${name}-env` })
        .service({ name: 'front', workload: name, spec: { ports } })
        .deployment({ name, podSpec, envFromConfigMap: [`${name}-env`] })
        .podDisruptionBudget({ name: `${name}-budget`, workload: name, spec: { minAvailable: 1 } });
    await scene.reconcileUntilDone(() => chain('old'));
    await hasReadyPods(scene, 'front', Deployment, 'old');
    const results = await chain('new').reconcile();
    expect(summary(results)).to.include.members([
      ...['pending Deployment/old', 'pending ConfigMap/old-env'],
      'deleted PodDisruptionBudget/old-budget',
    ]);
  });

  it('the builder changes the selector of a Service with publishNotReadyAddresses at once', async () => {
    const scene = await open();
    const spec = { ports, publishNotReadyAddresses: true };
    const chain = (name: string): Builder =>
      scene
        .builder()
        .service({ name: 'front', workload: name, spec })
        .deployment({ name, podSpec });
    await scene.reconcileUntilDone(() => chain('old'));
    await hasReadyPods(scene, 'front', Deployment, 'old');
    expect(summary(await chain('new').reconcile())).to.include('configured Service/front');
  });

  it('the builder restores an edited selector at once, even during a rollout', async () => {
    const scene = await open();
    const chain = (nodeSelector: Record<string, string>): Builder =>
      scene
        .builder()
        .service({ name: 'front', workload: 'web', spec: { ports } })
        .deployment({ name: 'web', podSpec: { ...podSpec, nodeSelector } });
    await scene.reconcileUntilDone(() => chain({}));
    await hasReadyPods(scene, 'front', Deployment, 'web');
    const nowhere = { 'example.com/nowhere': 'true' };
    await chain(nowhere).reconcile();
    await scene.target.eventually(async () => {
      const { status } = await scene.get(Deployment, 'web');
      expect([status?.replicas, status?.readyReplicas]).to.deep.equal([2, 1]);
    });
    const selector = { app: 'maintenance' };
    await scene.edit(Service, 'front', { body: { spec: { selector } } });
    expect(summary(await chain(nowhere).reconcile())).to.deep.equal([
      'configured Service/front',
      'unchanged Deployment/web',
    ]);
    expect(await servedBy(scene, 'front')).to.deep.equal(['Deployment/web']);
  });

  it('the builder keeps ready pods behind a Service with an edited selector while its workload is renamed', async () => {
    const scene = await open();
    const chain = (name: string, client: Client = scene.operator.client): Builder =>
      scene
        .builder({ client })
        .service({ name: 'front', workload: name, spec: { ports } })
        .deployment({ name, podSpec, podLabels: { tier: 'web' } });
    await scene.reconcileUntilDone(() => chain('old'));
    await hasReadyPods(scene, 'front', Deployment, 'old');
    await scene.edit(Service, 'front', { body: { spec: { selector: { tier: 'web' } } } });
    const watched = watching(scene, 'front');
    expect(summary(await chain('new', watched).reconcile())).to.include.members([
      'pending Service/front',
      'created Deployment/new',
    ]);
    await scene.reconcileUntilDone(() => chain('new', watched));
    expect(await servedBy(scene, 'front')).to.deep.equal(['Deployment/new']);
  });

  it('the builder keeps ready pods behind a Service whose selector changes with the labels of its pods', async () => {
    const scene = await open();
    const chain = (track: string, client: Client = scene.operator.client): Builder =>
      scene
        .builder({ client })
        .service({ name: 'front', spec: { ports, selector: { track } } })
        .deployment({
          ...{ name: 'web', podSpec, podLabels: { track } },
          spec: { minReadySeconds: 2 },
        });
    await scene.reconcileUntilDone(() => chain('a'));
    await scene.target.eventually(async () => {
      expect((await scene.get(Deployment, 'web')).status?.readyReplicas).to.equal(1);
    });
    for (let round = 1; round <= 2; round++) {
      const [service] = await chain('b').reconcile();
      expect(service?.operation, `round ${round}`).to.equal('pending');
      expect(service?.reason).to.match(
        /moves from Deployment .*web once Deployment .*web is rolled/,
      );
    }
    await scene.reconcileUntilDone(() => chain('b'));
    expect((await scene.get(Service, 'front')).spec?.selector).to.deep.equal({ track: 'b' });
  });

  for (const name of ['web', 'former'])
    it(`the builder keeps ready pods behind an adopted Service whose workload ${name === 'web' ? 'can not be adopted' : 'has another name'}`, async () => {
      const scene = await open();
      const { namespace } = scene;
      const selector = { app: 'former' };
      const template = { metadata: { labels: selector }, spec: podSpec };
      await scene.admin.create<Deployment>({
        ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace, name } },
        spec: { selector: { matchLabels: selector }, template },
      });
      await scene.admin.create<Service>({
        ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace, name: 'front' } },
        spec: { selector, ports },
      });
      await hasReadyPods(scene, 'front', Deployment, name);
      const [service] = await scene
        .builder()
        .service({ name: 'front', workload: 'web', adopt: true, spec: { ports } })
        .deployment({ name: 'web', podSpec })
        .reconcile()
        .catch((error: unknown) => {
          if (isReconcileFailed(error)) return error.results;
          throw error;
        });
      expect(service?.operation).to.equal('pending');
      expect(service?.reason).to.include(`moves from Deployment ${namespace}/${name} once`);
      expect((await scene.get(Service, 'front')).spec?.selector).to.deep.equal(selector);
    });

  it('the builder keeps ready pods of a kind that the operator does not own behind an adopted Service', async () => {
    const scene = await open();
    const { namespace } = scene;
    const selector = { app: 'former' };
    const template = { metadata: { labels: selector }, spec: podSpec };
    await scene.admin.create<StatefulSet>({
      ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { namespace, name: 'former' } },
      spec: { serviceName: 'former', selector: { matchLabels: selector }, template },
    });
    await scene.admin.create<Service>({
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace, name: 'front' } },
      spec: { selector, ports },
    });
    await scene.target.eventually(async () => {
      expect(await servedBy(scene, 'front')).to.deep.equal(['StatefulSet/former']);
    });
    const owns = [Service, Deployment];
    const { client, stop } = await withCache(scene.operator.client, owns);
    const chain = (): Builder =>
      scene
        .builder({ client: watching(scene, 'front', client), onlyOwned: true, owns })
        .service({ name: 'front', workload: 'web', adopt: true, spec: { ports } })
        .deployment({ name: 'web', podSpec });
    const [service] = await chain().reconcile();
    expect(service?.operation).to.equal('pending');
    expect(service?.reason).to.include(`moves from StatefulSet ${namespace}/former once`);
    await scene.reconcileUntilDone(chain);
    expect(await servedBy(scene, 'front')).to.deep.equal(['Deployment/web']);
    await stop();
  });

  it('the builder keeps the old workload while the Service still selects its pods, although the new workload is ready', async () => {
    const scene = await open();
    const isReady = (name: string): Promise<void> =>
      scene.target.eventually(async () => {
        expect((await scene.get(Deployment, name)).status?.readyReplicas).to.equal(1);
      });
    // The new workload gets ready between the decision on the Service and the pruning.
    const client: Client = {
      ...forwarding(scene.operator.client),
      apply: async (object, options) => {
        const applied = await scene.operator.client.apply(object, options);
        if (object.kind === 'Deployment') await isReady(object.metadata.name ?? '');
        return applied;
      },
    };
    const chain = (name: string): Builder =>
      scene
        .builder({ client })
        .service({ name: 'front', workload: name, spec: { ports } })
        .deployment({ name, podSpec });
    await scene.reconcileUntilDone(() => chain('old'));
    await hasReadyPods(scene, 'front', Deployment, 'old');
    const results = await chain('new').reconcile();
    expect(summary(results)).to.deep.equal([
      ...['pending Service/front', 'created Deployment/new', 'pending Deployment/old'],
    ]);
    expect(results.at(-1)?.reason).to.match(/Service .*front still selects its pods$/);
    await scene.reconcileUntilDone(() => chain('new'));
    expect(await servedBy(scene, 'front')).to.deep.equal(['Deployment/new']);
    expect(await scene.find(Deployment, 'old')).to.equal(undefined);
  });

  it('the builder deletes the old workload at once if the new workload needs its claim', async () => {
    const scene = await open();
    const claims = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    const chain = (name: string): Builder =>
      scene
        .builder()
        .service({ name: 'front', workload: name, spec: { ports } })
        .deployment({ name, podSpec: { ...podSpec, volumes: claims } });
    await chain('old').reconcile();
    const results = await chain('new').reconcile();
    expect(summary(results)).to.include.members([
      'created Deployment/new',
      'deleted Deployment/old',
    ]);
  });
}

async function hasReadyPods(
  scene: Scene,
  service: string,
  type: ResourceType<Deployment>,
  name: string,
): Promise<void> {
  await scene.target.eventually(async () => {
    expect((await scene.get(type, name)).status?.readyReplicas).to.equal(1);
    expect(await servedBy(scene, service)).to.deep.equal([`${type.kind}/${name}`]);
  });
}

/** Returns the workloads with ready pods that a Service selects. */
async function servedBy(scene: Scene, service: string): Promise<readonly string[]> {
  const { selector = {} } = (await scene.get(Service, service)).spec ?? {};
  const found = await Promise.all(
    workloads.map(async (type) => {
      const { items } = await scene.admin.list(type, { namespace: scene.namespace });
      const serving = items.filter(({ spec, status }) => {
        const labels = spec?.template.metadata?.labels ?? {};
        const isSelected = Object.entries(selector).every(([key, value]) => labels[key] === value);
        return isSelected && (status?.readyReplicas ?? 0) > 0;
      });
      return serving.map(({ metadata }) => `${type.kind}/${metadata.name ?? ''}`);
    }),
  );
  return found.flat();
}

/** Returns the operator's client, which fails once a write leaves the Service without ready pods. */
function watching(
  scene: Scene,
  service: string,
  inner: CachingClient = scene.operator.client,
): CachingClient {
  const checked = async <T>(write: Promise<T>): Promise<T> => {
    const answer = await write;
    if ((await servedBy(scene, service)).length === 0) throw new Error(`${service}: no ready pods`);
    return answer;
  };
  return {
    ...forwarding(inner),
    live: inner.live,
    apply: (object, options) => checked(inner.apply(object, options)),
    delete: (type, key, options) => checked(inner.delete(type, key, options)),
  };
}
