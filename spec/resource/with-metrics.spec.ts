import { expect } from 'chai';
import { isInvalidConfig } from '../../lib/resource/errors.js';
import type { Resource } from '../../lib/resource/resource-set.js';
import { withMetrics } from '../../lib/resource/with-metrics.js';
import type { OperationMetricsOptions } from '../../lib/resource/with-metrics.js';
import { withRetry } from '../../lib/resource/with-retry.js';
import type { HistogramOptions, MetricLabels, Metrics } from '../../lib/system/metrics.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { RecordedMetrics } from '../manager/leader-election-metrics.js';
import { Notes, deleteSteps, failureOf, newPass, tenant } from './chain-setup.js';

const away = new Error('the cloud is away');

interface Observed {
  readonly name: string;
  readonly value: number;
  readonly labels: MetricLabels;
}

/** Metrics that also record observations. */
class ObservedMetrics extends RecordedMetrics {
  readonly observed: Observed[] = [];

  override histogram: Metrics['histogram'] = ({ name }: HistogramOptions) => ({
    observe: (value, labels = {}) => void this.observed.push({ name, value, labels }),
  });
}

describe('withMetrics', () => {
  it('counts steps, failures and seconds by service, resource and operation', async () => {
    const clock = new VirtualClock();
    const kept = new ObservedMetrics();
    const notes = new Notes();
    const act = async (): Promise<void> => {
      await clock.advance(250);
      throw away;
    };
    const resource = notes.crud('r', { getDesiredState: act });
    const options = { metrics: kept, service: 'shop' };
    await failureOf(withMetrics(resource, options).ensureCreated(newPass({ clock }), tenant));
    const labels = (operation: string) => ({ service: 'shop', resource: 'r', operation });
    const current = labels('getCurrentState');
    const desired = labels('getDesiredState');
    const name = 'operatorkit_framework_operation';
    expect(kept.value(`${name}_total`, current)).to.equal(1);
    expect(kept.value(`${name}_total`, desired)).to.equal(1);
    expect(kept.value(`${name}_error_total`, current)).to.equal(undefined);
    expect(kept.value(`${name}_error_total`, desired)).to.equal(1);
    expect(kept.observed).to.deep.equal([
      { name, value: 0, labels: current },
      { name, value: 0.25, labels: desired },
    ]);
  });

  it('describes its metrics', () => {
    const described: object[] = [];
    const describing = (type: string) => (options: object) => {
      described.push({ type, ...options });
      return { add: () => undefined, observe: () => undefined };
    };
    const metrics = { counter: describing('counter'), histogram: describing('histogram') };
    withMetrics(new Notes().plain('r'), { metrics: metrics as never, service: 'shop' });
    const labelNames = ['service', 'resource', 'operation'];
    const name = 'operatorkit_framework_operation';
    expect(described).to.deep.equal([
      {
        ...{ type: 'counter', name: `${name}_total`, labelNames },
        help: 'Number of steps of resources that were run.',
      },
      {
        ...{ type: 'counter', name: `${name}_error_total`, labelNames },
        help: 'Number of steps of resources that failed.',
      },
      {
        ...{ type: 'histogram', name, labelNames },
        help: 'Duration of the steps of resources, in seconds.',
        buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      },
    ]);
  });

  it('uses the name of each step as the label operation, also in a deletion', async () => {
    const kept = new ObservedMetrics();
    const options = { metrics: kept, service: 'shop', prometheusNamespace: 'a' };
    const resource = withMetrics(new Notes().crud('r'), { ...options, prometheusSubsystem: 'b' });
    await resource.ensureDeleted(newPass(), tenant);
    expect(kept.observed.map(({ labels }) => labels['operation'])).to.deep.equal(deleteSteps);
    expect(new Set(kept.observed.map(({ name }) => name))).to.deep.equal(
      new Set(['a_b_operation']),
    );
  });

  it('counts a step once if withMetrics wraps withRetry, and each attempt if withRetry wraps withMetrics', async () => {
    const backOffFactory = () => ({ next: () => 0 });
    const tries = async (build: (resource: Resource, kept: Metrics) => Resource) => {
      let left = 2;
      const ensureCreated = (): void => {
        if (left-- > 0) throw away;
      };
      const kept = new ObservedMetrics();
      const resource = build(new Notes().plain('r', { ensureCreated }), kept);
      await resource.ensureCreated(newPass(), tenant);
      return kept.observed.length;
    };
    const service = 'shop';
    const around = await tries((resource, metrics) =>
      withMetrics(withRetry(resource, { backOffFactory }), { metrics, service }),
    );
    const within = await tries((resource, metrics) =>
      withRetry(withMetrics(resource, { metrics, service }), { backOffFactory }),
    );
    expect([around, within]).to.deep.equal([1, 3]);
  });

  for (const [title, options] of [
    ['no service', { service: '', metrics: new RecordedMetrics() }],
    ['no metrics', { service: 'shop' }],
  ] as const) {
    it(`rejects ${title}`, () => {
      expect(() => withMetrics(new Notes().plain('r'), options as OperationMetricsOptions))
        .to.throw('withMetrics: ')
        .that.satisfies(isInvalidConfig);
    });
  }
});
