import type { Counter, Gauge, Histogram, Metrics, RemovableSeries } from '../system/metrics.js';

/**
 * {@link Metrics} that can be used before their target is known. Registrations and samples are buffered until
 * `bind`.
 */
export class LateMetrics implements Metrics {
  #target: Metrics | undefined;
  #waiting: ((target: Metrics) => void)[] = [];

  /** Sends the buffer and everything later to `target`. Further calls do nothing. */
  bind(target: Metrics): void {
    if (this.#target !== undefined) return;
    this.#target = target;
    for (const tell of this.#waiting) tell(target);
    this.#waiting = [];
  }

  counter(options: Parameters<Metrics['counter']>[0]): Counter {
    const metric = this.#late((target) => target.counter(options));
    return {
      add: (value, labels) => metric((counter) => counter.add(value, labels)),
      remove: removal(metric),
    };
  }

  gauge(options: Parameters<Metrics['gauge']>[0]): Gauge {
    const metric = this.#late((target) => target.gauge(options));
    return {
      set: (value, labels) => metric((gauge) => gauge.set(value, labels)),
      add: (value, labels) => metric((gauge) => gauge.add(value, labels)),
      remove: removal(metric),
      onCollect: (update) => {
        const collecting: { isOver: boolean; end?: (() => void) | undefined } = { isOver: false };
        metric((gauge) => {
          if (!collecting.isOver) collecting.end = gauge.onCollect?.(update);
        });
        return () => {
          collecting.isOver = true;
          collecting.end?.();
        };
      },
    };
  }

  histogram(options: Parameters<Metrics['histogram']>[0]): Histogram {
    const metric = this.#late((target) => target.histogram(options));
    return {
      observe: (value, labels) => metric((histogram) => histogram.observe(value, labels)),
      remove: removal(metric),
    };
  }

  /** @returns a function that passes the metric to its callback, as soon as the metric exists */
  #late<M>(register: (target: Metrics) => M): (use: (metric: M) => void) => void {
    let metric: M | undefined;
    const registered = (target: Metrics): M => (metric ??= register(target));
    const whenBound = (tell: (target: Metrics) => void): void => {
      if (this.#target === undefined) this.#waiting.push(tell);
      else tell(this.#target);
    };
    whenBound(registered);
    return (use) => {
      if (metric === undefined) whenBound((target) => use(registered(target)));
      else use(metric);
    };
  }
}

/** Returns a function that removes samples after all earlier updates, and resolves when they are removed. */
function removal(
  use: (tell: (metric: RemovableSeries) => void) => void,
): NonNullable<RemovableSeries['remove']> {
  return (labels) => {
    let removed: void | Promise<void> = undefined;
    use((metric) => {
      removed = metric.remove?.(labels);
    });
    return removed;
  };
}
