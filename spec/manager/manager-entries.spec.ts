import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/embedded/index.js';
import { controllerFor } from '../../lib/controller/index.js';
import { Manager } from '../../lib/manager/index.js';
import type { Runnable } from '../../lib/manager/index.js';
import { ConfigMap } from '../../lib/object/index.js';

describe('What is added to a manager', () => {
  for (const [what, item, message] of [
    ['a description without an end', controllerFor(ConfigMap), 'end its description with complete'],
    ['nothing', undefined, 'want a controller or a runnable'],
    ['a runnable without run', { name: 'x' }, 'want a controller or a runnable'],
  ] as const) {
    it(`is not ${what}`, async () => {
      const cluster = await EmbeddedCluster.start();
      const manager = new Manager({ client: cluster.client() });
      expect(() => manager.add(item as unknown as Runnable))
        .to.throw(message)
        .with.property('code', 'InvalidOption');
      await cluster.stop();
    });
  }
});
