import type { Metrics, RemovableSeries } from '../system/metrics.js';
import { newControllerMetrics } from './controller-metrics.js';
import { newWorkQueueMetrics } from './work-queue-metrics.js';

/** Removes the metric series of the controller called `controller`, which no longer exists. */
export async function forgetMetrics(metrics: Metrics, controller: string): Promise<void> {
  const all = { ...newControllerMetrics(metrics), ...newWorkQueueMetrics(metrics) };
  const series = Object.values<RemovableSeries>(all);
  await Promise.all(series.map(async (metric) => metric.remove?.({ controller })));
}
