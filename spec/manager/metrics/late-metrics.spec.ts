import { expect } from 'chai';
import { LateMetrics } from '../../../lib/manager/metrics/bind-metrics.js';
import type { Metrics } from '../../../lib/system/index.js';

const named = (name: string) => ({ name, help: name, labelNames: ['kind'] });
const pod = { kind: 'Pod' };

/** Metrics that record every update; removals resolve when the spec says so. */
function recorded() {
  const log: string[] = [];
  const removals: Promise<void>[] = [];
  let update: (() => void) | undefined;
  const series = (name: string) => {
    const note =
      (what: string) =>
      (...args: readonly unknown[]): void =>
        void log.push(`${name} ${what} ${JSON.stringify(args)}`);
    log.push(`new ${name}`);
    return {
      ...{ add: note('add'), set: note('set'), observe: note('observe') },
      remove: (labels: unknown) => {
        note('remove')(labels);
        const removed = Promise.resolve();
        removals.push(removed);
        return removed;
      },
      onCollect: (own: () => void) => {
        update = own;
        return () => (update = undefined);
      },
    };
  };
  const metrics = {
    counter: ({ name }: { name: string }) => series(name),
    gauge: ({ name }: { name: string }) => series(name),
    histogram: ({ name }: { name: string }) => series(name),
  } as unknown as Metrics;
  return { log, removals, metrics, collect: () => update?.() };
}

describe('LateMetrics, whose target is bound later', () => {
  it('keep updates in their order until a target is bound, and pass on later updates at once', () => {
    const { log, metrics } = recorded();
    const late = new LateMetrics();
    const counter = late.counter(named('c'));
    const gauge = late.gauge(named('g'));
    counter.add(1, pod);
    gauge.set(2, pod);
    gauge.add(3, pod);
    void gauge.remove?.(pod);
    const histogram = late.histogram({ ...named('h'), buckets: [1] });
    histogram.observe(4, pod);
    expect(log).to.deep.equal([]);
    late.bind(metrics);
    const kept = [
      ...['new c', 'new g', 'c add [1,{"kind":"Pod"}]', 'g set [2,{"kind":"Pod"}]'],
      ...['g add [3,{"kind":"Pod"}]', 'g remove [{"kind":"Pod"}]'],
      ...['new h', 'h observe [4,{"kind":"Pod"}]'],
    ];
    expect(log).to.deep.equal(kept);
    counter.add(5, pod);
    late.counter(named('d')).add(6, pod);
    late.bind(recorded().metrics);
    counter.add(7, pod);
    expect(log.slice(kept.length)).to.deep.equal([
      ...['c add [5,{"kind":"Pod"}]', 'new d', 'd add [6,{"kind":"Pod"}]'],
      'c add [7,{"kind":"Pod"}]',
    ]);
  });

  it('return what the target returns when a series is removed after it was bound', () => {
    const { metrics, removals } = recorded();
    const late = new LateMetrics();
    const [counter, gauge] = [late.counter(named('c')), late.gauge(named('g'))];
    const histogram = late.histogram({ ...named('h'), buckets: [1] });
    expect(counter.remove?.(pod)).to.equal(undefined);
    late.bind(metrics);
    const removed = [counter, gauge, histogram].map((each) => each.remove?.(pod));
    expect(removed).to.deep.equal(removals.slice(1));
    expect(removed[0]).to.equal(removals[1]);
  });

  for (const isEarly of [true, false]) {
    it(`do not call a collect callback that was removed ${isEarly ? 'before' : 'after'} the target was bound`, () => {
      const { metrics, collect } = recorded();
      const late = new LateMetrics();
      let collections = 0;
      const end = late.gauge(named('g')).onCollect?.(() => collections++);
      if (isEarly) end?.();
      late.bind(metrics);
      collect();
      expect(collections).to.equal(isEarly ? 0 : 1);
      end?.();
      collect();
      expect(collections).to.equal(isEarly ? 0 : 1);
    });
  }
});
