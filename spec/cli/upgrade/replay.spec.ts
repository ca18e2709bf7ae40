import { expect } from 'chai';
import { replay } from '../../../lib/cli/upgrade/replay.js';
import { controllerFor, done } from '../../../lib/controller/index.js';
import type { Result } from '../../../lib/controller/index.js';
import { defineResource, s } from '../../../lib/crd/index.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import type { OperatorDefinition, OperatorResource } from '../../../lib/manager/index.js';
import { referenceTo } from '../../../lib/object/object-reference.js';
import { silentLogger } from '../../../lib/system/logger.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

function storesOf(group: string): OperatorResource {
  const schema = s.object({ spec: s.optional(s.object({})) });
  return defineResource({ group, kind: 'Store', versions: [{ name: 'v1', schema }] });
}

describe('replay', () => {
  it('does not reconcile the objects to skip, but reconciles those of the same name in another group', async () => {
    const kinds = [storesOf('food.example'), storesOf('books.example')];
    const clock = new VirtualClock();
    const cluster = await EmbeddedCluster.start({ crds: kinds, simulateWorkloads: true, clock });
    const seen = new Set<string>();
    const operator: OperatorDefinition = {
      name: 'stores',
      setup: (manager) => {
        for (const kind of kinds) {
          const controller = controllerFor(kind).withOptions({ name: kind.group });
          const reconcile = (): Promise<Result> => {
            seen.add(kind.group);
            return Promise.resolve(done());
          };
          manager.add(controller.complete(reconcile));
        }
      },
    };
    try {
      const metadata = { namespace: 'default', name: 'a' };
      const stores = kinds.map(({ group }) => ({
        apiVersion: `${group}/v1`,
        kind: 'Store',
        metadata,
      }));
      for (const store of stores) await cluster.client().create(store);
      const skipped = stores.slice(0, 1).map((store) => referenceTo(store));
      const { signal } = new AbortController();
      await replay(operator, { cluster, logger: silentLogger, signal, skipped });
      expect([...seen]).to.deep.equal(['books.example']);
    } finally {
      await cluster.stop();
    }
  });
});
