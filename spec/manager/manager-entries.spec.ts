import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { controllerFor } from '../../lib/controller/index.js';
import { Manager } from '../../lib/manager/index.js';
import type { Runnable } from '../../lib/manager/index.js';
import { ConfigMap } from '../../lib/object/index.js';

describe('Manager.add', () => {
  for (const [what, item, message] of [
    [
      'a controller description without complete',
      controllerFor(ConfigMap),
      'end its description with complete',
    ],
    ['undefined', undefined, 'want a controller or a runnable'],
    ['a runnable without run', { name: 'x' }, 'want a controller or a runnable'],
  ] as const) {
    it(`rejects ${what}`, async () => {
      const cluster = await EmbeddedCluster.start();
      const manager = new Manager({ client: cluster.client() });
      expect(() => manager.add(item as unknown as Runnable))
        .to.throw(message)
        .with.property('code', 'InvalidOption');
      await cluster.stop();
    });
  }
});
