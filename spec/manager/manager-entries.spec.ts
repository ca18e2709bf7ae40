import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { controllerFor } from '../../lib/controller/index.js';
import { Manager } from '../../lib/manager/index.js';
import type { Runnable } from '../../lib/manager/index.js';
import { ConfigMap, Pod } from '../../lib/object/index.js';
import { Operator } from '../../lib/operator/index.js';

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

describe('An entry of requires', () => {
  for (const [access, problem] of [
    [{ type: Pod, verbs: 'list' }, 'verbs of Pod: want a list such as ["get"], got "list"'],
    [{ type: Pod }, 'verbs of Pod: want a list such as ["get"], got undefined'],
    [{ kind: 'Pod', verbs: ['list'] }, 'unknown option "kind"'],
    [{ verbs: ['list'] }, 'type: want a kind, such as ConfigMap, got undefined'],
    [undefined, 'type: want a kind, such as ConfigMap, got undefined'],
    [{ type: Pod, verbs: ['get'], names: 'web' }, 'names of Pod: want a list of names, got "web"'],
    [{ type: Pod, verbs: ['get'], names: [5] }, 'names of Pod: want a list of names, got [5]'],
    [
      { nonResourceURLs: '/metrics', verbs: ['get'] },
      'nonResourceURLs: want a list of paths such as ["/metrics"], got "/metrics"',
    ],
    [
      { nonResourceURLs: ['metrics'], verbs: ['get'] },
      'nonResourceURLs: want a list of paths such as ["/metrics"], got ["metrics"]',
    ],
    [{ nonResourceURLs: ['/metrics'] }, 'verbs of /metrics: want a list such as ["get"]'],
    [
      { type: Pod, nonResourceURLs: ['/metrics'], verbs: ['get'] },
      'requires with nonResourceURLs: unknown option "type"',
    ],
  ] as const) {
    it(`is rejected with '${problem}', for a controller and for a manager`, async () => {
      const requires = [access as never];
      const controller = new Operator('shops').for(ConfigMap);
      expect(() => controller.requires(...requires))
        .to.throw(problem)
        .with.property('code', 'InvalidOption');
      const cluster = await EmbeddedCluster.start();
      const client = cluster.client();
      const runnable: Runnable = { name: 'x', run: () => Promise.resolve() };
      expect(() => new Manager({ client, requires })).to.throw(problem);
      expect(() => new Manager({ client }).add(runnable, { requires })).to.throw(problem);
      await cluster.stop();
    });
  }

  it('is rejected if it is not in a list, for a manager', async () => {
    const cluster = await EmbeddedCluster.start();
    const requires = { type: Pod, verbs: ['get'] } as never;
    expect(() => new Manager({ client: cluster.client(), requires }))
      .to.throw('requires: want a list, got {')
      .with.property('code', 'InvalidOption');
    await cluster.stop();
  });
});
