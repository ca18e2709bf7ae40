import { expect } from 'chai';
import { getIfExists } from '../../../../lib/client/index.js';
import { Deployment } from '../../../../lib/object/kinds.js';
import type { Namespace } from '../../../../lib/object/kinds.js';
import type { CrashScenario } from '../../../../lib/testing/index.js';
import type {
  CrashStage,
  OperatorStage,
} from '../../../../lib/testing/crash-points/crash-scenario.js';
import { silentLogger } from '../../../../lib/system/logger.js';
import { serverName } from '../../../../samples/lifecycle/http-server.js';
import { ownedTypes, sampleOperator } from '../../../../samples/lifecycle/operator.js';
import { SampleConfig } from '../../../../samples/lifecycle/sample-config.js';
import { isDeployed } from './deployed.js';
import { servingPods } from './serving-pods.js';

const namespace = 'sample-system';
const key = { name: 'sample' };

/**
 * The operator's release for a cluster; stored outside of it, so that a crash does not revert it.
 */
class Rollout {
  release = '1.0.0';
  replaced = new AbortController();

  replaceBy(release: string): void {
    this.release = release;
    this.replaced.abort();
    this.replaced = new AbortController();
  }
}

/** The life of a SampleConfig: deployed as 1.0.0, upgraded to 2.0.0 with new labels, removed. */
export function sampleScenario(): CrashScenario {
  const rollouts = new WeakMap<object, Rollout>();
  const rolloutOf = (cluster: object): Rollout => {
    const rollout = rollouts.get(cluster) ?? new Rollout();
    rollouts.set(cluster, rollout);
    return rollout;
  };
  return {
    name: 'a system',
    kinds: [SampleConfig, ...ownedTypes],
    setup: ({ client }) =>
      client.create<Namespace>({
        ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      }),
    operator: (stage) => runReleases(stage, rolloutOf(stage.cluster)),
    invariant,
    steps: [
      { name: 'deploy', change: create, until: (stage) => isAt(stage, '1.0.0') },
      {
        name: 'upgrade',
        change: ({ cluster }) => {
          rolloutOf(cluster).replaceBy('2.0.0');
          return Promise.resolve();
        },
        until: (stage) => isAt(stage, '2.0.0'),
      },
      { name: 'remove', change: ({ client }) => client.delete(SampleConfig, key), until: isGone },
    ],
  };
}

/** Runs the desired releases in sequence. */
async function runReleases(stage: OperatorStage, rollout: Rollout): Promise<void> {
  while (!stage.signal.aborted) {
    const signal = AbortSignal.any([stage.signal, rollout.replaced.signal]);
    const { client, clock, random } = stage;
    await sampleOperator({ namespace, release: rollout.release }).run({
      ...{ client, clock, random, signal, rbacPreflight: 'off', logger: silentLogger },
    });
  }
}

function create({ client }: CrashStage): Promise<SampleConfig> {
  return client.create<SampleConfig>({
    apiVersion: 'lifecycle.example.com/v1alpha1',
    kind: 'SampleConfig',
    metadata: key,
    spec: { replicas: 1 },
  });
}

async function isAt({ client }: CrashStage, version: string): Promise<boolean> {
  const { status } = await client.get(SampleConfig, key);
  return isDeployed(status, version);
}

async function isGone({ client }: CrashStage): Promise<boolean> {
  if ((await getIfExists(client, SampleConfig, key)) !== undefined) return false;
  const lists = await Promise.all(ownedTypes.map((type) => client.list(type, { namespace })));
  return lists.every(({ items }) => items.every(({ metadata }) => !metadata.ownerReferences));
}

/** Expects ready pods behind Deployed, and a Service that always has endpoints. */
async function invariant({ client }: CrashStage): Promise<void> {
  const config = await getIfExists(client, SampleConfig, key).catch(() => undefined);
  const { phase, observedVersion } = config?.status ?? {};
  if (observedVersion === undefined || config?.metadata.deletionTimestamp !== undefined) return;
  const ready = await servingPods(client, namespace);
  expect(ready.length, 'pods that serve').to.be.above(0);
  if (phase !== 'Deployed') return;
  const name = observedVersion === '2.0.0' ? 'http-server-2' : serverName;
  const { spec, status } = await client.get(Deployment, { name, namespace });
  expect(status?.readyReplicas, `${name} of ${observedVersion}`).to.equal(spec?.replicas);
}
