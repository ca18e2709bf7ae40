import { writeFile } from 'node:fs/promises';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { shopProject } from './project/shop-project.js';
import { Shop } from './project/shop/src/shop.js';

/** A plan with unanswered requests, for the specs of one `describe`. */
export interface HangingPlan {
  /** Returns the arguments of the command. */
  args(): readonly string[];
  /** Calls a function once the server has received a request of the plan. */
  whileItHangs(interrupt: () => unknown): Promise<void>;
}

/** @param file - returns paths in a scratch directory */
export function hangingPlan(file: (name: string) => string): HangingPlan {
  let cluster: EmbeddedCluster;

  before(async () => {
    cluster = await EmbeddedCluster.start({ crds: [Shop], port: 0 });
    await cluster.writeKubeConfig(file('kubeconfig'));
    const shop = Shop.object({ metadata: { name: 'a', namespace: 'default' }, spec: {} });
    await writeFile(file('shop.yaml'), JSON.stringify(shop));
  });

  after(() => cluster.stop());

  return {
    args: () => [
      ...['plan', '-f', file('shop.yaml'), '--project', shopProject],
      ...['--kubeconfig', file('kubeconfig')],
    ],
    whileItHangs: async (interrupt) => {
      const effect = { type: 'latency', ms: 600_000 } as const;
      const fault = cluster.faults.add({ match: { resource: 'shops' }, effect });
      try {
        while (fault.struck === 0) await new Promise((resolve) => setImmediate(resolve));
        interrupt();
      } finally {
        fault.remove();
      }
    },
  };
}
