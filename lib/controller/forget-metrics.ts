import type { Metrics, RemovableSeries } from '../system/metrics.js';
import { newControllerMetrics } from './controller-metrics.js';
import { newWorkQueueMetrics } from './work-queue-metrics.js';

/** Takes out what was counted of the controller called `controller`: it is gone for good. */
export async function forgetMetrics(metrics: Metrics, controller: string): Promise<void> {
  const all = { ...newControllerMetrics(metrics), ...newWorkQueueMetrics(metrics) };
  const series = Object.values<RemovableSeries>(all);
  await Promise.all(series.map(async (metric) => metric.remove?.({ controller })));
}
