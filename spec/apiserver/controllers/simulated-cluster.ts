import { expect } from 'chai';
import type { CoreV1Event } from '@kubernetes/client-node';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import type { EmbeddedClusterOptions } from '../../../lib/apiserver/index.js';
import type { Client } from '../../../lib/client/client.js';
import type { Wire } from '../../../lib/object/index.js';
import type { KubernetesObject, ObjectKey } from '../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import type { CommittedChange } from '../../../lib/apiserver/loopback.js';
import { errorMessage } from '../../../lib/system/as-error.js';
import { silentLogger } from '../../../lib/system/logger.js';
import type { LogFields } from '../../../lib/system/logger.js';
import { seededRandom } from '../../../lib/system/random.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

/** A cluster with simulated workloads and a virtual clock. */
export interface SimulatedCluster {
  readonly cluster: EmbeddedCluster<VirtualClock>;
  readonly client: Client;
  readonly clock: VirtualClock;
  /** Creates objects in sequence, then waits until the cluster has settled. */
  readonly create: (...objects: KubernetesObject[]) => Promise<void>;
  readonly get: <T extends KubernetesObject>(type: ResourceType<T>, name: string) => Promise<T>;
  /** Lists the objects of a kind in the namespace `default`, by name. */
  readonly list: <T extends KubernetesObject>(type: ResourceType<T>) => Promise<T[]>;
  readonly names: (type: ResourceType<KubernetesObject>) => Promise<string[]>;
  /** Applies a merge patch, then waits until the cluster has settled. */
  readonly patch: <T extends KubernetesObject>(
    type: ResourceType<T>,
    name: string,
    body: object,
  ) => Promise<T>;
  readonly delete: (
    type: ResourceType<KubernetesObject>,
    name: string,
    options?: { readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan' },
  ) => Promise<void>;
  /** Returns a growing list of the changes of objects of `type` from now on, as committed. */
  readonly changes: <T extends KubernetesObject>(
    type: ResourceType<T>,
  ) => { type: string; object: T }[];
  readonly settled: () => Promise<void>;
}

const running: EmbeddedCluster[] = [];
const failures: string[] = [];

/** Starts a cluster that {@link stopSimulatedClusters} stops. */
export async function simulatedCluster(
  options: EmbeddedClusterOptions = {},
): Promise<SimulatedCluster> {
  const clock = new VirtualClock();
  const { simulateWorkloads = true, random = seededRandom(7) } = options;
  // The specs list all Services and ConfigMaps, so the cluster does not create those of the API server.
  const own = { kubernetesService: false, rootCertificates: false };
  const controllers = { ...own, ...options.controllers };
  const logger = { ...silentLogger, warn: noteFailure, debug: noteFailure };
  const settings = { logger, ...options, simulateWorkloads, controllers, random, clock };
  const cluster: EmbeddedCluster<VirtualClock> = await EmbeddedCluster.start(settings);
  running.push(cluster);
  await cluster.settled();
  return facade(cluster, clock);
}

/**
 * Stops all simulated clusters; for `afterEach`. Fails if a controller has failed: it tries again, so that the
 * objects alone would not show it.
 * @param expected - matches failures and conflicts that belong to the scenario. @defaultValue none
 */
export async function stopSimulatedClusters(expected = /^$/): Promise<void> {
  for (const cluster of running.splice(0)) await cluster.stop();
  const unexpected = failures.splice(0).filter((failure) => !expected.test(failure));
  expect(unexpected, 'failures of controllers').to.deep.equal([]);
}

function noteFailure(message: string, { queue, key, error }: LogFields = {}): void {
  failures.push(`${message}: ${String(queue)} ${String(key)}: ${errorMessage(error)}`);
}

const namespace = 'default';

function facade(cluster: EmbeddedCluster<VirtualClock>, clock: VirtualClock): SimulatedCluster {
  const client = cluster.client();
  const keyOf = (name: string): ObjectKey => ({ namespace, name });
  const list = async <T extends KubernetesObject>(type: ResourceType<T>): Promise<T[]> =>
    (await client.list(type, type.namespaced ? { namespace } : {})).items;
  return {
    cluster,
    client,
    clock,
    list,
    create: async (...objects) => {
      for (const object of objects) await client.create(object);
      await cluster.settled();
    },
    get: (type, name) => client.get(type, type.namespaced ? keyOf(name) : { name }),
    names: async (type) => (await list(type)).map(({ metadata }) => metadata.name ?? ''),
    patch: async (type, name, body) => {
      const patched = await client.patch(type, keyOf(name), { type: 'merge', body });
      await cluster.settled();
      return patched;
    },
    delete: async (type, name, options = {}) => {
      await client.delete(type, type.namespaced ? keyOf(name) : { name }, options);
      await cluster.settled();
    },
    changes: (type) => {
      const changes: { type: string; object: never }[] = [];
      cluster.server.loopback.subscribe((change: CommittedChange) => {
        const { kind, group } = change.resourceType;
        if (kind !== type.kind || group !== type.group) return;
        changes.push({ type: change.type, object: change.object as never });
      });
      return changes;
    },
    settled: () => cluster.settled(),
  };
}

export const coreEvent: ResourceType<Wire<CoreV1Event> & KubernetesObject> = {
  ...{ group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true },
};

/** Returns the events about objects of a kind as lines, with the random ends of names cut off. */
export async function eventsAbout({ list }: SimulatedCluster, kind: string): Promise<string[]> {
  const events = await list(coreEvent);
  return events
    .filter(({ involvedObject }) => involvedObject.kind === kind)
    .sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
    .map(({ type, reason, message, count }) => {
      const text = message!.replace(/-[a-z0-9]{5}(?=$|\s|_)/g, '-xxxxx').replace(/\(.{36}\)/, '');
      return `${type} ${reason} ${text}${(count ?? 1) > 1 ? ` x${count}` : ''}`;
    });
}
