import { expect } from 'chai';
import { Registry } from 'prom-client';
import {
  newControllerMetrics,
  forgetMetrics,
  newWorkQueueMetrics,
} from '../../lib/controller/metrics.js';
import { promMetrics } from '../../lib/prometheus/index.js';

describe('forgetMetrics', () => {
  it('removes all samples of one controller and keeps the samples of other controllers', async () => {
    const registry = new Registry();
    const metrics = promMetrics(registry);
    const samplesOf = async (controller: string): Promise<readonly string[]> =>
      (await registry.metrics())
        .split('\n')
        .filter((line) => line.includes(`controller="${controller}"`));
    const all = Object.values({
      ...newControllerMetrics(metrics),
      ...newWorkQueueMetrics(metrics),
    });
    for (const controller of ['gone', 'stays']) {
      for (const metric of all) {
        if ('observe' in metric) metric.observe(1, { controller });
        else metric.add(1, { controller });
      }
    }
    const stays = await samplesOf('stays');
    expect(await samplesOf('gone')).to.have.lengthOf(stays.length);
    expect(stays).to.have.length.above(all.length);
    await forgetMetrics(metrics, 'gone');
    expect(await samplesOf('gone')).to.deep.equal([]);
    expect(await samplesOf('stays')).to.deep.equal(stays);
  });
});
