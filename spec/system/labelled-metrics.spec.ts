import { expect } from 'chai';
import { Registry } from 'prom-client';
import { withMetricLabels, noMetrics } from '../../lib/system/metrics.js';
import { promMetrics } from '../../lib/prometheus/index.js';

describe('withMetricLabels', () => {
  const named = (name: string) => ({ name, help: name, labelNames: ['kind'] });

  it('adds its labels to every sample, and removes only samples with these labels', async () => {
    const registry = new Registry();
    const [east, west] = ['east', 'west'].map((cluster) =>
      withMetricLabels(promMetrics(registry), { cluster }),
    );
    for (const metrics of [east, west]) {
      metrics?.counter(named('total')).add(2, { kind: 'Pod' });
      metrics?.histogram({ ...named('seconds'), buckets: [1] }).observe(0.5, { kind: 'Pod' });
      const gauge = metrics?.gauge(named('now'));
      gauge?.set(1, { kind: 'Pod' });
      gauge?.onCollect?.(() => gauge.add(1, { kind: 'Pod' }));
    }
    const text = await registry.metrics();
    for (const cluster of ['east', 'west']) {
      expect(text).to.include(`total{kind="Pod",cluster="${cluster}"} 2`);
      expect(text).to.include(`seconds_count{kind="Pod",cluster="${cluster}"} 1`);
      expect(text).to.include(`now{kind="Pod",cluster="${cluster}"} 2`);
    }
    await east?.counter(named('total')).remove?.({ kind: 'Pod' });
    await east?.histogram({ ...named('seconds'), buckets: [1] }).remove?.({});
    const left = await registry.metrics();
    expect(left).to.not.match(/(total|seconds_count){kind="Pod",cluster="east"}/);
    expect(left).to.include('total{kind="Pod",cluster="west"} 2');
  });

  it('has no optional methods that the wrapped metrics lack', () => {
    const metrics = withMetricLabels(noMetrics, { cluster: 'east' });
    const gauge = metrics.gauge(named('now'));
    gauge.set(1, { kind: 'Pod' });
    expect(gauge).to.not.have.any.keys('onCollect', 'remove');
  });
});
