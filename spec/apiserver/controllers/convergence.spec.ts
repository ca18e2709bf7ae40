import { expect } from 'chai';
import fc from 'fast-check';
import { startControllers } from '../../../lib/apiserver/controllers/index.js';
import type { Loopback } from '../../../lib/apiserver/loopback.js';
import { DaemonSet, Deployment, Pod, StatefulSet } from '../../../lib/object/kinds.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import { tries } from '../../sample.js';
import { simulatedCluster, stopSimulatedClusters } from './simulated-cluster.js';
import type { SimulatedCluster } from './simulated-cluster.js';
import { daemonSet, deployment, imagePatch, statefulSet } from './workload-objects.js';

/** An action of a user, and the pause after it. */
interface Step {
  readonly name: 'web' | 'db' | 'agent';
  readonly action: 'image' | 'scale' | 'deletePod' | 'recreate';
  readonly number: number;
  readonly waitMs: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  name: fc.constantFrom('web', 'db', 'agent'),
  action: fc.constantFrom('image', 'scale', 'deletePod', 'recreate'),
  number: fc.nat(4),
  waitMs: fc.nat(8),
});

const types: Readonly<Record<Step['name'], ResourceType<KubernetesObject>>> = {
  web: Deployment,
  db: StatefulSet,
  agent: DaemonSet,
};
const made = { web: deployment('web'), db: statefulSet('db'), agent: daemonSet('agent') };

/** Expected errors: users and controllers write the same objects, and a new owner finds pods of a deleted one. */
const overtaken = /409 |404 /;

const tags = ['', '-broken', '', '-never-ready', '-crashing'];

async function take(cluster: SimulatedCluster, { name, action, number }: Step): Promise<void> {
  const { client } = cluster;
  const type = types[name];
  const key = { namespace: 'default', name };
  switch (action) {
    case 'image':
      await patch(cluster, name, imagePatch(`app:${number}${tags[number] ?? ''}`));
      return;
    case 'scale':
      if (name !== 'agent') await patch(cluster, name, { spec: { replicas: number } });
      return;
    case 'deletePod': {
      const pods = await cluster.list(Pod);
      const pod = pods[number % Math.max(1, pods.length)];
      if (pod !== undefined) await client.delete(Pod, { ...key, name: pod.metadata.name! });
      return;
    }
    case 'recreate':
      await client.delete(type, key);
      await client.create(made[name]).catch(ignoreTaken);
  }
}

async function patch(cluster: SimulatedCluster, name: Step['name'], body: object): Promise<void> {
  const key = { namespace: 'default', name };
  await cluster.client.patch(types[name], key, { type: 'merge', body }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

function ignoreTaken(error: unknown): void {
  if ((error as { status?: number }).status !== 409) throw error;
}

/** Repairs everything: valid images, and no pods that block a StatefulSet. */
async function repair(cluster: SimulatedCluster): Promise<void> {
  for (const name of ['web', 'db', 'agent'] as const) {
    await cluster.client.create(made[name]).catch(ignoreTaken);
    await patch(cluster, name, imagePatch('app:sound'));
  }
  await cluster.settled();
  for (const { metadata, spec } of await cluster.list(Pod)) {
    const sound = spec!.containers[0]!.image === 'app:sound';
    if (!sound) await cluster.delete(Pod, metadata.name!);
  }
}

function ownersOf(loopback: Loopback): { missing: string[] } {
  const all = loopback.resourceTypes().flatMap((type) => [...loopback.list(type)]);
  const uids = new Set(all.map(({ metadata }) => metadata.uid));
  const orphans = all.filter(({ metadata }) =>
    metadata.ownerReferences?.some(({ uid }) => !uids.has(uid)),
  );
  return { missing: orphans.map(({ metadata }) => metadata.name ?? '') };
}

describe('the controllers of the embedded cluster after random actions', () => {
  afterEach(stopSimulatedClusters);

  it('leave no pod without an owner, and complete all rollouts after the objects are repaired', async () => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const cluster = await simulatedCluster();
      const { loopback } = cluster.cluster.server;
      for (const object of Object.values(made)) await cluster.client.create(object);
      for (const one of steps) {
        await take(cluster, one);
        await cluster.clock.advance(one.waitMs);
      }
      await cluster.settled();
      expect(ownersOf(loopback)).to.deep.equal({ missing: [] });
      await repair(cluster);
      const web = await cluster.get(Deployment, 'web');
      expect(web.status?.availableReplicas ?? 0).to.equal(web.spec!.replicas);
      expect(web.status?.replicas ?? 0).to.equal(web.spec!.replicas);
      const db = await cluster.get(StatefulSet, 'db');
      expect(db.status).to.include({ currentRevision: db.status!.updateRevision });
      expect(db.status!.readyReplicas ?? 0).to.equal(db.spec!.replicas);
      const agent = await cluster.get(DaemonSet, 'agent');
      expect(agent.status).to.include({ numberAvailable: 1, updatedNumberScheduled: 1 });
      await stopSimulatedClusters(overtaken);
    });
    await fc.assert(property, { numRuns: tries(15) });
  });

  it('continue their work after a restart at any moment', async () => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
      const off = { simulateWorkloads: false, controllers: { garbageCollector: false } };
      const cluster = await simulatedCluster(off);
      const { loopback } = cluster.cluster.server;
      const { clock } = cluster;
      for (const object of Object.values(made)) await cluster.client.create(object);
      for (const one of steps) {
        const controllers = startControllers(loopback, { clock });
        await take(cluster, one);
        await clock.advance(one.waitMs);
        controllers.stop();
      }
      const controllers = startControllers(loopback, { clock });
      await clock.advance(1_000);
      const before = cluster.cluster.server.resourceVersion;
      controllers.stop();
      const next = startControllers(loopback, { clock });
      await clock.advance(1_000);
      next.stop();
      expect(cluster.cluster.server.resourceVersion).to.equal(before);
      expect(ownersOf(loopback)).to.deep.equal({ missing: [] });
      await stopSimulatedClusters(overtaken);
    });
    await fc.assert(property, { numRuns: tries(15) });
  });
});
