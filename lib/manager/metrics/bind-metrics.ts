import type { Client } from '../../client/client.js';
import type { Clock } from '../../system/clock.js';
import { noMetrics } from '../../system/metrics.js';
import { HttpEndpoint } from '../http/http-endpoint.js';
import type { LateMetrics } from '../late-metrics.js';
import type { Runnable } from '../runnable.js';
import { answerMetrics } from './answer-metrics.js';
import type { ResolvedMetricsOptions } from './metrics-options.js';
import { ReviewedAccess } from './reviewed-access.js';

/** Options of {@link bindMetrics}. */
export interface BindMetricsOptions {
  readonly metrics: ResolvedMetricsOptions | undefined;
  readonly clock: Clock;
}

/**
 * Binds the metrics to their registry, or discards them. Loads prom-client only if needed.
 * @param client - sends the reviews of metrics clients
 * @returns the metrics server; undefined if not requested
 */
export async function bindMetrics(
  late: LateMetrics,
  { metrics: options, clock }: BindMetricsOptions,
  client: Client,
): Promise<Runnable | undefined> {
  if (options === undefined) {
    late.bind(noMetrics);
    return undefined;
  }
  const [{ Registry }, { promMetrics }, { registerProcessMetrics }] = await Promise.all([
    import('prom-client'),
    import('../../system/prom-metrics.js'),
    import('./process-metrics.js'),
  ]);
  const registry = options.registry ?? new Registry();
  if (options.processMetrics) registerProcessMetrics(registry);
  late.bind(promMetrics(registry));
  if (!options.serve) return undefined;
  const { host, port, certificate } = options;
  const access = options.access === 'reviewed' ? new ReviewedAccess({ client, clock }) : undefined;
  return new HttpEndpoint({
    ...{ name: 'metrics-server', host, port, certificate, clock },
    answer: (question) => answerMetrics(registry, access, question),
  });
}
