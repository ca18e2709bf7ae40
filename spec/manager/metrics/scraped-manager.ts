import type { Metric } from 'prom-client';
import { Registry } from 'prom-client';
import { EventRecorder } from '../../../lib/events/event-recorder.js';
import type { Manager } from '../../../lib/manager/manager.js';
import { allowed, validatingWebhook } from '../../../lib/manager/webhooks/webhook.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { promMetrics } from '../../../lib/prometheus/index.js';
import { ManagerSetup, aborted, watcher } from '../manager-setup.js';
import { onLoopback, served } from '../served.js';
import { staticCertificate } from './static-certificate.js';

/** A scraped metric. */
export interface ScrapedMetric {
  readonly type: string;
  readonly labels: readonly string[];
}

/**
 * Returns a manager that has run for a while with everything that has metrics.
 * @param prepare - called before the manager runs
 */
export async function scrapedManager(
  registry = new Registry(),
  prepare: (manager: Manager, setup: ManagerSetup) => void = () => undefined,
) {
  const setup = await ManagerSetup.start();
  const client = setup.cluster.client({ user: 'operator', metrics: promMetrics(registry) });
  const webhooks = {
    webhooks: [validatingWebhook(ConfigMap, () => allowed())],
    ...{ certificates: staticCertificate(), ...onLoopback },
  };
  const manager = setup.manager({
    clusters: [{ name: 'home', client }],
    leaderElection: { name: 'spec', namespace: 'default', identity: 'me' },
    ...{ webhooks, metrics: { ...onLoopback, registry } },
  });
  manager.add(watcher([]));
  manager.add(watcher([], 'shared'), { shards: true });
  const { metrics } = manager;
  const recorder = new EventRecorder({
    client,
    controllerName: 'spec',
    clock: setup.clock,
    metrics,
  });
  manager.add({ name: 'events', run: ({ signal }) => aborted(signal).then(() => recorder.stop()) });
  prepare(manager, setup);
  await setup.create('a');
  await setup.run(manager);
  await manager.whenLeading();
  await setup.clock.advance(2_000);
  return { setup, manager, registry };
}

/** Returns the types of a scrape, with the labels of their metrics. */
export async function scrape(
  manager: Manager,
  registry: Registry,
): Promise<ReadonlyMap<string, ScrapedMetric>> {
  const { text } = await served(manager, '/metrics');
  const metrics = new Map<string, ScrapedMetric>();
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const metric = registry.getSingleMetric(name) as
      (Metric & { readonly labelNames?: readonly string[] }) | undefined;
    metrics.set(name, { type, labels: metric?.labelNames ?? [] });
  }
  return metrics;
}
