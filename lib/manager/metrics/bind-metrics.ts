import type { Client } from '../../client/client.js';
import type { Clock } from '../../system/clock.js';
import { noMetrics } from '../../system/metrics.js';
import { HttpEndpoint } from '../http/http-endpoint.js';
import type { LateMetrics } from '../late-metrics.js';
import type { Runnable } from '../runnable.js';
import { answerMetrics } from './answer-metrics.js';
import type { ResolvedMetricsOptions } from './metrics-options.js';
import { ReviewedAccess } from './reviewed-access.js';

/** What {@link bindMetrics} looks at. */
export interface BindMetricsOptions {
  readonly metrics: ResolvedMetricsOptions | undefined;
  readonly clock: Clock;
}

/**
 * Sends the metrics to their registry, or nowhere; prom-client is loaded where they are wanted only.
 * @param client - asks the reviews of who scrapes
 * @returns the server that shows them; undefined: none is wanted
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
