import { metrics as api } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { promMetrics } from '../../lib/prometheus/index.js';
import { bothMetrics, noMetrics, registeredMetrics } from '../../lib/system/index.js';

describe('registeredMetrics, metrics for a registered OpenTelemetry SDK', () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  const name = (metric: string) => ({ name: metric, help: metric, labelNames: ['kind'] });

  afterEach(() => {
    api.disable();
    exporter.reset();
  });
  after(() => provider.shutdown());

  /** Collects, and returns the samples by `name{labels}`. */
  async function collected(): Promise<ReadonlyMap<string, unknown>> {
    await reader.forceFlush();
    const [all] = exporter.getMetrics().slice(-1);
    const samples = all?.scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap(({ descriptor, dataPoints }) =>
        dataPoints.map(({ attributes, value }) => {
          return [`${descriptor.name}${JSON.stringify(attributes)}`, value] as const;
        }),
      ),
    );
    return new Map(samples);
  }

  it('is noMetrics until an SDK is registered', async () => {
    expect(await registeredMetrics()).to.equal(noMetrics);
  });

  it('sends counters, gauges and histograms to the SDK', async () => {
    api.setGlobalMeterProvider(provider);
    const metrics = await registeredMetrics();
    expect(await registeredMetrics()).to.equal(metrics);
    expect(metrics.gauge(name('c'))).to.equal(metrics.gauge(name('c')));
    metrics.counter(name('a_total')).add(2, { kind: 'Pod' });
    metrics.counter(name('a_total')).add(1, { kind: 'Pod' });
    metrics.histogram({ ...name('b_seconds'), buckets: [1, 5] }).observe(3, { kind: 'Pod' });
    const gauge = metrics.gauge(name('c'));
    gauge.set(5, { kind: 'Pod' });
    gauge.add(-1, { kind: 'Pod' });
    gauge.set(7, { kind: 'Node' });
    await gauge.remove?.({ kind: 'Node' });
    const end = gauge.onCollect?.(() => gauge.set(9, { kind: 'Secret' }));
    const samples = await collected();
    expect(samples.get('a_total{"kind":"Pod"}')).to.equal(3);
    expect(samples.get('b_seconds{"kind":"Pod"}')).to.deep.include({
      ...{ count: 1, sum: 3 },
      buckets: { boundaries: [1, 5], counts: [0, 1, 0] },
    });
    expect(samples.get('c{"kind":"Pod"}')).to.equal(4);
    expect(samples.get('c{"kind":"Secret"}')).to.equal(9);
    expect(samples.has('c{"kind":"Node"}')).to.equal(false);
    end?.();
    gauge.set(0, { kind: 'Secret' });
    expect((await collected()).get('c{"kind":"Secret"}')).to.equal(0);
  });

  it('finds the series of a gauge by its labels in any order, and starts each series at 0', async () => {
    api.setGlobalMeterProvider(provider);
    const gauge = (await registeredMetrics()).gauge({ ...name('e'), labelNames: ['a', 'b', 'c'] });
    gauge.add(1, { a: '1', b: '2', c: '3' });
    gauge.add(1, { c: '3', a: '1', b: '2' });
    gauge.add(1, { b: '2', c: '3', a: '1' });
    gauge.add(5, { a: '2', b: '1', c: '3' });
    await gauge.remove?.({ a: '2', b: '2' });
    gauge.add(4);
    expect([...(await collected())].filter(([key]) => key.startsWith('e'))).to.deep.equal([
      ['e{"a":"1","b":"2","c":"3"}', 3],
      ['e{"a":"2","b":"1","c":"3"}', 5],
      ['e{}', 4],
    ]);
  });

  it('passes the help text of a metric to the SDK as its description', async () => {
    api.setGlobalMeterProvider(provider);
    const metrics = await registeredMetrics();
    metrics.counter({ ...name('f_total'), help: 'Counts.' }).add();
    metrics.gauge({ ...name('f'), help: 'Shows.' }).set(1);
    metrics.histogram({ ...name('f_seconds'), help: 'Measures.', buckets: [1] }).observe(1);
    await reader.forceFlush();
    const { scopeMetrics } = exporter.getMetrics().at(-1) ?? expect.fail('nothing was exported');
    expect(scopeMetrics.map(({ scope }) => scope.name)).to.deep.equal(['operator-builder']);
    const described = scopeMetrics.flatMap(({ metrics: each }) =>
      each.map(({ descriptor, dataPoints }) => [
        ...[descriptor.name, descriptor.description],
        dataPoints.map(({ value }) => (typeof value === 'number' ? value : 'a histogram')),
      ]),
    );
    expect(described.filter(([metric]) => String(metric).startsWith('f'))).to.deep.equal([
      ['f_total', 'Counts.', [1]],
      ['f', 'Shows.', [1]],
      ['f_seconds', 'Measures.', ['a histogram']],
    ]);
  });

  it('if combined with noMetrics, gives the other metrics themselves', () => {
    const metrics = promMetrics(new Registry());
    expect(bothMetrics(noMetrics, metrics)).to.equal(metrics);
    expect(bothMetrics(metrics, noMetrics)).to.equal(metrics);
  });

  it('can be combined with Prometheus metrics, so that both receive every value', async () => {
    api.setGlobalMeterProvider(provider);
    const registry = new Registry();
    const metrics = bothMetrics(promMetrics(registry), await registeredMetrics());
    const counter = metrics.counter(name('d_total'));
    counter.add(1, { kind: 'Pod' });
    const histogram = metrics.histogram({ ...name('d_seconds'), buckets: [1] });
    histogram.observe(0.5, { kind: 'Pod' });
    const gauge = metrics.gauge(name('d'));
    gauge.set(3, { kind: 'Pod' });
    gauge.add(2, { kind: 'Pod' });
    let asked = 2;
    const end = gauge.onCollect?.(() => gauge.set(asked, { kind: 'Node' }));
    const text = await registry.metrics();
    expect(text).to.include('d_total{kind="Pod"} 1').and.include('d{kind="Pod"} 5');
    expect(text).to.include('d{kind="Node"} 2');
    expect(text).to.include('d_seconds_count{kind="Pod"} 1');
    const samples = await collected();
    expect(samples.get('d_total{"kind":"Pod"}')).to.equal(1);
    expect(samples.get('d_seconds{"kind":"Pod"}')).to.deep.include({ count: 1, sum: 0.5 });
    expect(samples.get('d{"kind":"Pod"}')).to.equal(5);
    expect(samples.get('d{"kind":"Node"}')).to.equal(2);
    end?.();
    asked = 9;
    expect(await registry.metrics()).to.include('d{kind="Node"} 2');
    expect((await collected()).get('d{"kind":"Node"}')).to.equal(2);
    await gauge.remove?.({ kind: 'Pod' });
    await counter.remove?.({ kind: 'Pod' });
    await histogram.remove?.({ kind: 'Pod' });
    expect(await registry.metrics()).to.not.include('kind="Pod"');
  });
});
