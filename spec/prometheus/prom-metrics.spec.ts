import { expect } from 'chai';
import { Gauge, Registry, register } from 'prom-client';
import { noMetrics } from '../../lib/system/metrics.js';
import { promMetrics } from '../../lib/prometheus/index.js';

const named = { name: 'metric', help: 'Help.', labelNames: ['kind'] };

async function textOf(registry: Registry): Promise<string[]> {
  const text = await registry.metrics();
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

describe('promMetrics, metrics in a registry of prom-client', () => {
  it('increments counters, by one if no value is given', async () => {
    const registry = new Registry();
    const counter = promMetrics(registry).counter(named);
    counter.add();
    counter.add(2, { kind: 'a' });
    counter.add(3, { kind: 'a' });
    expect(await textOf(registry)).to.deep.equal(['metric 1', 'metric{kind="a"} 5']);
  });

  it('sets gauges, and changes them by an amount', async () => {
    const registry = new Registry();
    const gauge = promMetrics(registry).gauge(named);
    gauge.set(5, { kind: 'a' });
    gauge.add(-7, { kind: 'a' });
    expect(await textOf(registry)).to.deep.equal(['metric{kind="a"} -2']);
  });

  it('calls collect callbacks when the metrics are scraped', async () => {
    const registry = new Registry();
    let [age, askings] = [1, 0];
    const askAge = (): void => {
      askings++;
      gauge.set(age);
    };
    const gauge = promMetrics(registry).gauge({ name: 'age', help: 'Help.' });
    const end = gauge.onCollect?.(askAge);
    promMetrics(registry)
      .gauge({ name: 'age', help: 'Help.' })
      .onCollect?.(() => askings++);
    expect(await textOf(registry)).to.deep.equal(['age 1']);
    age = 2;
    expect(await textOf(registry)).to.deep.equal(['age 2']);
    expect(askings).to.equal(4);
    end?.();
    age = 3;
    expect(await textOf(registry)).to.deep.equal(['age 2']);
    expect(askings).to.equal(5);
  });

  it('counts the observations of a histogram in its buckets', async () => {
    const registry = new Registry();
    const options = { name: 'seconds', help: 'Help.', buckets: [0.1, 1] };
    const histogram = promMetrics(registry).histogram(options);
    for (const value of [0.05, 0.5, 5]) histogram.observe(value);
    expect(await textOf(registry)).to.deep.equal([
      'seconds_bucket{le="0.1"} 1',
      'seconds_bucket{le="1"} 2',
      'seconds_bucket{le="+Inf"} 3',
      'seconds_sum 5.55',
      'seconds_count 3',
    ]);
  });

  it('returns the same metric for the same name', async () => {
    const registry = new Registry();
    const register = (): void => {
      const metrics = promMetrics(registry);
      metrics.counter({ ...named, name: 'c' }).add();
      metrics.gauge({ ...named, name: 'g' }).add(1, {});
      metrics.histogram({ ...named, name: 'h', buckets: [1] }).observe(0);
    };
    register();
    register();
    const lines = await textOf(registry);
    expect(lines).to.include.members(['c 2', 'g 2', 'h_count 2']);
  });

  it('refuses a metric whose name has another type or other labels in the registry', () => {
    const registry = new Registry();
    new Gauge({ name: 'metric', help: 'Help.', labelNames: ['name'], registers: [registry] });
    const metrics = promMetrics(registry);
    const problem = 'metric metric: the registry has a metric of this name';
    expect(() => metrics.counter(named)).to.throw(`${problem} that is a gauge`);
    expect(() => metrics.histogram({ ...named, buckets: [1] })).to.throw('that is a gauge');
    expect(() => metrics.gauge(named))
      .to.throw(`${problem} without the labels kind`)
      .with.property('code', 'InvalidOption');
    expect(() => metrics.gauge({ ...named, labelNames: ['name'] })).not.to.throw();
  });

  it('removes only the samples with the given labels', async () => {
    const registry = new Registry();
    const metrics = promMetrics(registry);
    const labelNames = ['kind', 'code'];
    const counter = metrics.counter({ name: 'c', help: 'Help.', labelNames });
    const gauge = metrics.gauge({ name: 'g', help: 'Help.', labelNames });
    const histogram = metrics.histogram({ name: 'h', help: 'Help.', labelNames, buckets: [1] });
    for (const kind of ['a', 'b']) {
      for (const code of ['1', '2']) {
        counter.add(1, { kind, code });
        gauge.set(1, { kind, code });
        histogram.observe(1, { kind, code });
      }
    }
    const before = await textOf(registry);
    for (const metric of [counter, gauge, histogram]) await metric.remove?.({ kind: 'a' });
    const left = before.filter((line) => !line.includes('kind="a"'));
    expect(await textOf(registry)).to.deep.equal(left);
    expect(left.length).to.equal(before.length / 2);
    await counter.remove?.({ other: 'b' });
    expect(await textOf(registry)).to.deep.equal(left);
    counter.add(3, { kind: 'a', code: '1' });
    expect(await textOf(registry)).to.include('c{kind="a",code="1"} 3');
  });

  it('does not use the global registry', () => {
    promMetrics(new Registry()).counter(named).add();
    expect(register.getSingleMetric('metric')).to.equal(undefined);
  });
});

describe('noMetrics', () => {
  it('ignores every value', () => {
    noMetrics.counter(named).add();
    noMetrics.gauge(named).set(1);
    noMetrics.histogram({ ...named, buckets: [] }).observe(1);
  });
});
