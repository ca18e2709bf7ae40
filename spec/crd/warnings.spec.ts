import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { warningsOf } from './suite/warning-scene.js';
import recorded from './recorded/warnings.json' with { type: 'json' };

describe('Warnings about custom resources', () => {
  it('are the same on the embedded server as on a real API server', async () => {
    const cluster = await EmbeddedCluster.start();
    const connect = (logger: Parameters<Parameters<typeof warningsOf>[0]>[0]) =>
      Promise.resolve(cluster.client({ logger }));
    expect(await warningsOf(connect, 'warnings.example.com')).to.deep.equal(recorded);
    await cluster.stop();
  });
});
