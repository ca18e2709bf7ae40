import { expect } from 'chai';
import { controllerFor } from '../../lib/controller/controller.js';
import { newControllerMetrics, newWorkQueueMetrics } from '../../lib/controller/metrics.js';
import { WorkQueue } from '../../lib/controller/queue.js';
import { done } from '../../lib/controller/result.js';
import { noMetrics } from '../../lib/system/metrics.js';
import type { HistogramOptions, MetricLabels, MetricOptions } from '../../lib/system/metrics.js';
import { Thing } from '../cache/fake-server.js';
import { ControllerSetup } from './controller-setup.js';

/**
 * Metrics that controller-runtime 0.24 registers, in pkg/internal/controller/metrics and
 * pkg/internal/metrics.
 */
const theirs = [
  'counter controller_runtime_reconcile_total{controller,result}',
  'counter controller_runtime_reconcile_errors_total{controller}',
  'counter controller_runtime_terminal_reconcile_errors_total{controller}',
  'counter controller_runtime_reconcile_panics_total{controller}',
  'counter controller_runtime_reconcile_timeouts_total{controller}',
  'histogram controller_runtime_reconcile_time_seconds{controller}',
  'gauge controller_runtime_max_concurrent_reconciles{controller}',
  'gauge controller_runtime_active_workers{controller}',
  'gauge workqueue_depth{name,controller,priority}',
  'counter workqueue_adds_total{name,controller}',
  'histogram workqueue_queue_duration_seconds{name,controller}',
  'histogram workqueue_work_duration_seconds{name,controller}',
  'gauge workqueue_unfinished_work_seconds{name,controller}',
  'gauge workqueue_longest_running_processor_seconds{name,controller}',
  'counter workqueue_retries_total{name,controller}',
];

function registered() {
  const names: string[] = [];
  const buckets = new Map<string, readonly number[]>();
  const note =
    <T>(type: string, metric: T) =>
    (options: MetricOptions | HistogramOptions): T => {
      names.push(`${type} ${options.name}{${(options.labelNames ?? []).join(',')}}`);
      if ('buckets' in options) buckets.set(options.name, options.buckets);
      return metric;
    };
  const none = { name: 'x', help: 'x' };
  const metrics = {
    counter: note('counter', noMetrics.counter(none)),
    gauge: note('gauge', noMetrics.gauge(none)),
    histogram: note('histogram', noMetrics.histogram({ ...none, buckets: [] })),
  };
  newControllerMetrics(metrics);
  newWorkQueueMetrics(metrics);
  return { names, buckets };
}

describe('metrics of controllers', () => {
  it("have controller-runtime's types, names and labels", () => {
    expect(registered().names).to.include.members(theirs);
    const own = registered().names.filter((name) => !theirs.includes(name));
    for (const name of own) expect(name).to.match(/^(counter|gauge) operator_builder_/);
  });

  it("have controller-runtime's buckets", () => {
    const { buckets } = registered();
    const times = buckets.get('controller_runtime_reconcile_time_seconds') ?? [];
    expect(times).to.deep.equal([
      ...[0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8],
      ...[0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40],
      ...[50, 60],
    ]);
    for (const name of ['queue', 'work']) {
      const powers = buckets.get(`workqueue_${name}_duration_seconds`) ?? [];
      expect(powers.length).to.equal(12);
      expect(powers.map((bound) => Math.round(Math.log10(bound)))).to.deep.equal(
        Array.from({ length: 12 }, (_, n) => n - 8),
      );
    }
  });

  it('have up to 25 values of the label priority, and one value for all other priorities', () => {
    const depths = new Map<string, number>();
    const depth = {
      ...noMetrics.gauge({ name: 'depth', help: '' }),
      add: (value: number, labels: MetricLabels = {}) => {
        const priority = labels['priority'] ?? '';
        depths.set(priority, (depths.get(priority) ?? 0) + value);
      },
    };
    const metrics = {
      ...noMetrics,
      gauge: (options: MetricOptions) =>
        options.name === 'workqueue_depth' ? depth : noMetrics.gauge(options),
    };
    const queue = new WorkQueue({ name: 'test', metrics });
    for (let n = 0; n < 30; n++) queue.add(`ns/${n}`, { priority: n });
    expect(depths.size).to.equal(26);
    expect(depths.get('exceeded_cardinality_limit')).to.equal(5);
    for (let n = 0; n < 30; n++) queue.remove(`ns/${n}`);
    expect([...depths.values()].every((value) => value === 0)).to.equal(true);
  });

  it('count delayed and rate-limited additions to the queue as retries', () => {
    const counts: string[] = [];
    const metrics = {
      ...noMetrics,
      counter: ({ name }: MetricOptions) => ({
        add: (value: number) => {
          if (value > 0) counts.push(name);
        },
      }),
    };
    const queue = new WorkQueue({ name: 'test', metrics });
    queue.add('ns/a', { afterMs: 10 });
    queue.addRateLimited('ns/b');
    queue.add('ns/c');
    queue.shutDown();
    expect(counts).to.deep.equal([
      'workqueue_retries_total',
      'workqueue_retries_total',
      'workqueue_adds_total',
    ]);
  });

  it('are logged when they throw, and the key is retried once', async () => {
    const setup = new ControllerSetup();
    let problem: Error | undefined = new Error('the metrics are gone');
    const counter = ({ name }: MetricOptions) => ({
      add: (value: number) => {
        if (value === 0 || name !== 'controller_runtime_reconcile_errors_total') return;
        const thrown = problem;
        problem = undefined;
        if (thrown !== undefined) throw thrown;
      },
    });
    let runs = 0;
    const controller = controllerFor(Thing).complete(async () => {
      if (++runs === 1) throw new Error('not yet');
      return done();
    });
    setup.things.put('a');
    const running = await setup.start(controller, { metrics: { ...noMetrics, counter } });
    const [line] = setup.logged.filter(({ level }) => level === 'error');
    expect(line?.message).to.equal('the outcome of a reconcile could not be handled');
    expect(line?.fields).to.deep.include({ key: 'ns/a', againInMs: 5 });
    expect(line?.fields['error']).to.have.property('message', 'the metrics are gone');
    await setup.clock.advance(1_000);
    expect(runs).to.equal(2);
    await setup.stop(running);
  });
});
