import { expect } from 'chai';
import { hashOfKey, rangesOf, slotCount, slotOf } from '../../lib/manager/sharding/assignment.js';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { ConfigMap, Namespace } from '../../lib/object/kinds.js';
import { startControlPlane } from './control-plane/index.js';

describe('the ranges of shards on a real API server with KEP-5866', function () {
  this.timeout(120_000);

  it('select the objects of the namespaces whose keys are in the ranges', async () => {
    const apiServerArgs = ['--feature-gates=ShardedListAndWatch=true'];
    const plane = await startControlPlane({ apiServerArgs });
    const client = await clientFromKubeConfig({ path: plane.kubeConfigPath });
    try {
      const namespaces = Array.from(
        { length: 24 },
        (_, n) => `${'kilolimamike'.slice(n % 9)}-${n * n}`,
      );
      for (const name of namespaces) {
        await client.create<Namespace>({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
        const metadata = { name: 'probe', namespace: name, labels: { probe: '' } };
        await client.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
      }
      const odd = Array.from({ length: slotCount }, (_, slot) => slot).filter((slot) => slot & 64);
      const terms = rangesOf(odd).map(
        ({ start, end }) => `shardRange(object.metadata.namespace, '${start}', '${end}')`,
      );
      const shardSelector = terms.join(' || ');
      const query = new URLSearchParams({ labelSelector: 'probe', shardSelector });
      const { text } = await plane.api.send({ path: `/api/v1/configmaps?${query.toString()}` });
      const { items } = JSON.parse(text) as { items: ConfigMap[] };
      const mine = namespaces.filter((namespace) =>
        odd.includes(slotOf(hashOfKey({ namespace, name: 'probe' }, 'namespace'))),
      );
      expect(mine.length).to.be.within(3, 21);
      expect(items.map(({ metadata }) => metadata.namespace).sort()).to.deep.equal(mine.sort());
    } finally {
      await client.close();
      await plane.stop();
    }
  });
});
