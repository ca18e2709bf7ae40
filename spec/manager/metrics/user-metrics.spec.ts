import { expect } from 'chai';
import { Registry } from 'prom-client';
import type { MetricsOptions } from '../../../lib/manager/metrics/bind-metrics.js';
import { promMetrics } from '../../../lib/prometheus/index.js';
import type { Metrics } from '../../../lib/system/metrics.js';
import { ManagerSetup } from '../manager-setup.js';

const help = 'Help.';

describe("An operator's own metrics", () => {
  let setup: ManagerSetup;
  before(async () => (setup = await ManagerSetup.start()));
  after(() => setup.end());

  const ofManager = (metrics?: MetricsOptions): Metrics => setup.manager({ metrics }).metrics;
  const cases = {
    'without a registry': () => ofManager(),
    'with a registry': () => ofManager({ registry: new Registry(), serve: false }),
    'of promMetrics': () => promMetrics(new Registry()),
  };
  for (const [where, metricsOf] of Object.entries(cases)) {
    describe(where, () => {
      const refused = (use: (metrics: Metrics) => unknown, message: string): void => {
        const isRefused = expect(() => use(metricsOf()), message).to.throw(message);
        isRefused.with.property('code', 'InvalidOption');
      };

      it('with an invalid description are refused in an error that names them', () => {
        refused(
          (m) => m.counter({ name: 'x-total', help }),
          'metric "x-total": name: want letters',
        );
        refused((m) => m.gauge({ name: '1x', help }), 'metric "1x": name: want letters');
        refused((m) => m.gauge({ name: ['x'], help } as never), 'metric ["x"]: name: want letters');
        refused((m) => m.counter({ help } as never), 'metric "": name: want letters');
        refused((m) => m.counter(undefined as never), 'metric "": name: want letters');
        refused((m) => m.gauge({ name: 'x' } as never), 'metric x: no help; give a text');
        const labels = ['kind'];
        refused(
          (m) => m.counter({ name: 'x', help, labels } as never),
          'metric x: unknown option "labels"',
        );
        refused(
          (m) => m.counter({ name: 'x', help, labelNames: 'kind' } as never),
          'metric x: labelNames: want a list, got string',
        );
        refused(
          (m) => m.counter({ name: 'x', help, labelNames: ['a-b'] }),
          'metric x: labelNames: want letters, digits and "_", no digit first, got "a-b"',
        );
        const le = { name: 'x', help, labelNames: ['le'], buckets: [1] };
        refused((m) => m.histogram(le), 'not "le", got "le"');
        for (const buckets of [undefined, [2, 1], ['1']]) {
          refused(
            (m) => m.histogram({ name: 'x', help, buckets } as never),
            'metric x: buckets: want a list of ascending numbers',
          );
        }
      });

      it('refuse an unknown label of a sample, and suggest the label with the nearest name', () => {
        const named = { name: 'x', help, labelNames: ['kind'] };
        const mistyped = { Kind: 'a' };
        const hint = 'metric x: unknown label "Kind"; did you mean "kind"?';
        refused((m) => m.counter(named).add(1, mistyped), hint);
        refused((m) => m.gauge(named).set(1, mistyped), hint);
        refused((m) => m.gauge(named).add(1, mistyped), hint);
        refused((m) => m.histogram({ ...named, buckets: [1] }).observe(1, mistyped), hint);
        const none = 'metric x: unknown label "kind"; it has none; add it to labelNames';
        refused((m) => m.counter({ name: 'x', help }).add(1, { kind: 'a' }), none);
      });

      it('refuse sample values that are not numbers, NaN, and negative values of a counter', () => {
        const swapped = { kind: 'a' } as never;
        const problem = 'metric x: want a number, then the labels, got {"kind":"a"}';
        refused((m) => m.counter({ name: 'x', help }).add(swapped), problem);
        refused((m) => m.gauge({ name: 'x', help }).set(swapped), problem);
        refused(
          (m) => m.counter({ name: 'x', help }).add(-1),
          'a counter adds numbers from 0 on, got -1',
        );
        refused((m) => m.counter({ name: 'x', help }).add(NaN), 'from 0 on, got NaN');
        const seconds = { name: 'x', help, buckets: [1] };
        refused(
          (m) => m.histogram(seconds).observe(NaN),
          'metric x: cannot observe NaN; want a finite number',
        );
      });

      it('are refused if another metric of the same name has another type or other labels', () => {
        const metrics = metricsOf();
        const named = { name: 'x', help, labelNames: ['kind', 'code'] };
        metrics.counter(named).add(1, { kind: 'a', code: '1' });
        metrics.counter({ ...named, labelNames: ['kind'] }).add(1, { kind: 'a' });
        refused(() => metrics.gauge(named), 'has a metric of this name that is a counter');
        refused(
          () => metrics.counter({ ...named, labelNames: ['kind', 'zone'] }),
          'has a metric of this name without the labels zone; rename it, or',
        );
      });
    });
  }
});
