import { EventRecorder } from '../../lib/events/event-recorder.js';
import type { EventRecorderOptions } from '../../lib/events/event-recorder.js';
import type { ObjectEvent } from '../../lib/events/recorder.js';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';
import type { LogFields, Logger } from '../../lib/system/logger.js';
import type { Metrics } from '../../lib/system/metrics.js';
import { seededRandom } from '../../lib/system/random.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { FakeClient } from './fake-client.js';

export const minute = 60_000;

export const regarding = {
  apiVersion: 'example.com/v1',
  kind: 'Tenant',
  namespace: 'shop',
  name: 'acme',
  uid: 'u-1',
};

export const event = (part: Partial<ObjectEvent> = {}): ObjectEvent => ({
  regarding,
  type: 'Normal',
  reason: 'Created',
  action: 'Create',
  note: 'Created ConfigMap shop/web',
  ...part,
});

/** Returns an event that is not in a series with another one. */
export const distinct = (n: number, part: Partial<ObjectEvent> = {}): ObjectEvent =>
  event({ reason: `Reason${n}`, ...part });

export function setUp(options: Partial<EventRecorderOptions> = {}) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 2, 3, 4, 5, 678));
  const fake = new FakeClient();
  const dropped: Record<string, number> = {};
  const lines: string[] = [];
  const count = (value = 1, labels: Readonly<Record<string, string>> = {}): void => {
    const { reason = 'written' } = labels;
    if (value > 0) dropped[reason] = (dropped[reason] ?? 0) + value;
  };
  const metrics = { counter: () => ({ add: count }) } as Partial<Metrics> as Metrics;
  const log = (message: string, { about }: LogFields = {}): number =>
    lines.push(about === undefined ? message : `${message}: ${about as string}`);
  const logger = { warn: log, error: log, info: log, debug: log } as Partial<Logger> as Logger;
  const recorder = new EventRecorder({
    client: fake.client,
    controllerName: 'shop-operator',
    instance: 'shop-operator-0',
    clock,
    random: seededRandom(1),
    metrics,
    logger,
    ...options,
  });
  return { clock, fake, recorder, counts: dropped, lines };
}

export const nameOf = (body: unknown): string => (body as KubernetesObject).metadata.name ?? '';

export const countOf = (body: unknown): number =>
  (body as { body: { series: { count: number } } }).body.series.count;

export const bodies = (fake: FakeClient): Record<string, unknown>[] =>
  fake.calls.map(({ body }) => body as Record<string, unknown>);
