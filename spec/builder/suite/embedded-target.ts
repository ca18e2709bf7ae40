import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import type { Namespace } from '../../../lib/object/kinds.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import type { BuilderTarget, Operator } from './target.js';

/** A target with its embedded cluster. */
interface EmbeddedTarget extends BuilderTarget {
  readonly cluster: EmbeddedCluster;
}

/** An embedded cluster with a virtual clock of its own. */
export async function embeddedTarget(): Promise<EmbeddedTarget> {
  const clock = new VirtualClock();
  const cluster = await EmbeddedCluster.start({ simulateWorkloads: true, clock });
  const admin = cluster.client();
  let [operators, namespaces] = [0, 0];
  return {
    ...{ name: 'the embedded server', real: false, clock, admin, cluster },
    operator: () => Promise.resolve(newOperator(cluster, `operator-${++operators}`)),
    namespace: async () => {
      const name = `shop-${++namespaces}`;
      await admin.create<Namespace>({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      return name;
    },
    eventually: (check) => settling(cluster, check),
    close: () => cluster.stop(),
  };
}

function newOperator(cluster: EmbeddedCluster, user: string): Operator {
  let mark = cluster.requests.mark();
  return {
    client: cluster.client({ user }),
    requests: () => {
      const { entries } = cluster.requests.since(mark);
      mark = cluster.requests.mark();
      return Promise.resolve(entries.filter((entry) => entry.user === user));
    },
  };
}

const longestSettling = 100;

async function settling<T>(cluster: EmbeddedCluster, check: () => Promise<T>): Promise<T> {
  for (let round = 0; ; round++) {
    await cluster.settled();
    try {
      return await check();
    } catch (error) {
      if (round >= longestSettling) throw error;
    }
  }
}
