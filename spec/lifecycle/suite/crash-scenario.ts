import { expect } from 'chai';
import { ensureCrd, getIfExists } from '../../../lib/client/index.js';
import { controllerFor, done } from '../../../lib/controller/index.js';
import type { Result } from '../../../lib/controller/index.js';
import { createCrd, LifecycleReconciler } from '../../../lib/lifecycle/index.js';
import { Manager } from '../../../lib/manager/index.js';
import { ConfigMap, Deployment, Service, ServiceAccount } from '../../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { rolloutStatus } from '../../../lib/object/rollout-status.js';
import { sleep } from '../../../lib/system/clock.js';
import type { CrashScenario } from '../../../lib/testing/index.js';
import type {
  CrashCluster,
  CrashStage,
  OperatorStage,
} from '../../../lib/testing/crash-points/crash-scenario.js';
import { group, LocalConfig } from './stage.js';
import { account, configMap, deployment, service } from './system.js';
import type { Config } from './stage.js';

const name = 'config';
const images: Readonly<Record<string, string>> = { '1.0.0': 'nginx:1', '1.1.0': 'nginx:2' };
const pruned = [ConfigMap];
const kinds = [ConfigMap, ServiceAccount, Service, Deployment];

/**
 * The life of a system: deployed, upgraded (image changed, object added, object removed), deleted.
 * The version of the operator is in the spec, so that one program can be both versions.
 * @param isLive - runs an operator without a cache, for which each read is a request.
 */
export function lifecycleScenario<C extends CrashCluster>(isLive = false): CrashScenario<C> {
  return {
    name: `a system${isLive ? ', without a cache' : ''}`,
    kinds: [LocalConfig, ...kinds],
    setup: ({ client, cluster }) => {
      const crd = createCrd({ group, kind: 'LocalConfig' }, { scope: 'Namespaced' });
      return ensureCrd(client, crd, { clock: cluster.clock });
    },
    operator: isLive ? runLoop : runManager,
    invariant: isTrue,
    steps: [
      {
        name: 'deploy',
        change: ({ client, cluster }) =>
          client.create<Config>({
            ...{ apiVersion: `${group}/v1alpha1`, kind: 'LocalConfig' },
            ...{ metadata: keyIn(cluster), spec: { version: '1.0.0' } },
          }),
        until: isDeployed('1.0.0'),
      },
      {
        name: 'upgrade',
        change: ({ client, cluster }) => {
          const body = { spec: { version: '1.1.0' } };
          return client.patch(LocalConfig, keyIn(cluster), { type: 'merge', body });
        },
        until: isDeployed('1.1.0'),
      },
      {
        name: 'delete',
        change: ({ client, cluster }) => client.delete(LocalConfig, keyIn(cluster)),
        until: async ({ client, cluster }) => {
          const config = await getIfExists(client, LocalConfig, keyIn(cluster));
          const left = await client.list(Deployment, { namespace: keyIn(cluster).namespace });
          if (config !== undefined || left.items.length > 0) return false;
          expect([...callsOf(cluster)]).to.include.members(alwaysCalled);
          return true;
        },
      },
    ],
  };
}

/** Callbacks that run at least once, wherever the operator is killed. */
const alwaysCalled = [
  ...['ServiceAccount', 'ConfigMap', 'Deployment', 'Service'].flatMap((kind) => [
    ...[`PRE_CREATE ${kind}`, `POST_READ ${kind}`, `OPERATOR_DELETE ${kind}`],
  ]),
  ...['PRE_UPDATE Deployment', 'PRE_DELETE ConfigMap'],
];

const calls = new WeakMap<CrashCluster, Set<string>>();

/** Callbacks that the operators of a cluster ran, before and after a crash. */
function callsOf(cluster: CrashCluster): Set<string> {
  const known = calls.get(cluster) ?? new Set<string>();
  calls.set(cluster, known);
  return known;
}

function keyIn({ namespace = 'default' }: CrashCluster): { name: string; namespace: string } {
  return { name, namespace };
}

function versionOf(config: Config | undefined): string {
  return String(config?.spec?.['version']);
}

function resourcesOf(config: Config): UnstructuredObject[] {
  const { namespace = '' } = config.metadata;
  const version = versionOf(config);
  return [
    account(namespace),
    configMap(namespace, version === '1.0.0' ? 'old' : 'new'),
    deployment(namespace, { image: images[version] ?? '' }),
    service(namespace),
  ];
}

function newReconciler({
  client,
  clock,
  cluster,
}: OperatorStage<CrashCluster>): LifecycleReconciler<Config> {
  return new LifecycleReconciler<Config>({
    ...{ client, clock, namespace: 'operators', recorder: { record: () => undefined } },
    dispatcher: {
      invokeCallbacks: ({ state, desired, current }) => {
        callsOf(cluster).add(`${state} ${(desired ?? current)?.kind}`);
        return Promise.resolve();
      },
    },
    crManager: {
      type: LocalConfig,
      getAllResources: resourcesOf,
      getDependantResourceTypes: () => pruned,
    },
  });
}

async function runManager(stage: OperatorStage<CrashCluster>): Promise<void> {
  const { client, clock, random, cluster, signal } = stage;
  const reconciler = newReconciler(stage);
  const definition = controllerFor(LocalConfig)
    .from(reconciler.ownedKinds)
    .complete(async (context): Promise<Result> => {
      const config = await getIfExists(context.client, LocalConfig, context.key);
      return config === undefined ? done() : reconciler.reconcile(context, versionOf(config));
    });
  const cacheOptions = { namespaces: [keyIn(cluster).namespace] };
  const manager = new Manager({ client, clock, random, cacheOptions, rbacPreflight: 'off' });
  manager.add(definition);
  await manager.run(signal);
}

async function runLoop(stage: OperatorStage<CrashCluster>): Promise<void> {
  const { client, clock, cluster, signal } = stage;
  const reconciler = newReconciler(stage);
  const key = keyIn(cluster);
  while (!signal.aborted) {
    const config = await getIfExists(client, LocalConfig, key);
    if (config !== undefined) await reconciler.reconcile({ key, signal }, versionOf(config));
    await sleep(clock, 2_000, signal).catch(() => undefined);
  }
}

function isDeployed(version: string): (stage: CrashStage<CrashCluster>) => Promise<boolean> {
  return async ({ client, cluster }) => {
    const { status } = await client.get(LocalConfig, keyIn(cluster));
    return status?.phase === 'Deployed' && status.observedVersion === version;
  };
}

/** Expects Deployed only after the rollout, and dependencies of old pods while these exist. */
async function isTrue({ client, cluster }: CrashStage<CrashCluster>): Promise<void> {
  const key = keyIn(cluster);
  const config = await getIfExists(client, LocalConfig, key);
  if (config === undefined || config.metadata.deletionTimestamp !== undefined) return;
  const { phase, observedVersion = '' } = config.status ?? {};
  const workload = await getIfExists(client, Deployment, { ...key, name: 'web' });
  if (workload === undefined) {
    expect(phase).to.be.oneOf([undefined, 'Deploying']);
    return;
  }
  const [image] = workload.spec?.template.spec?.containers.map((one) => one.image) ?? [];
  const rollout = rolloutStatus({ ...workload, kind: 'Deployment' });
  if (phase === 'Deployed' && image === images[observedVersion]) {
    expect(rollout).to.deep.equal({ complete: true });
  }
  if (observedVersion === '1.1.0') expect(image).to.equal('nginx:2');
  if (observedVersion === '1.0.0' && !rollout.complete) {
    expect(await getIfExists(client, ConfigMap, { ...key, name: 'old' })).to.be.an('object');
  }
}
