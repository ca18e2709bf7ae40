import type { Client } from '../../../lib/client/index.js';
import { Views } from '../../../lib/declarative/views/index.js';
import type {
  KubernetesObject,
  ObjectKey,
  ObjectMeta,
  UnstructuredObject,
} from '../../../lib/object/kubernetes-object.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

/** The apiVersion of the views of the operator `op`. */
export const apiVersion = 'op.view.dcontroller.io/v1alpha1';

/** A kind of views, by its names. */
export const HealthView = { apiVersion, kind: 'HealthView' };

/** A HealthView, with or without a namespace. */
export function healthView(key: ObjectMeta | ObjectKey, more: object = {}): UnstructuredObject {
  return { ...HealthView, metadata: { ...key } as ObjectMeta, ...more };
}

/** Views on a virtual clock. */
export interface VirtualViews {
  readonly views: Views;
  readonly clock: VirtualClock;
}

/** Runs `test` with views, and expects no timers or watches to remain. */
export async function withViews(test: (setup: VirtualViews) => Promise<void>): Promise<void> {
  const clock = new VirtualClock();
  const views = await Views.start({ clock });
  try {
    await test({ views, clock });
  } finally {
    await views.stop();
  }
  const left = { timers: clock.pendingTimers, watches: views.server.openWatches };
  if (left.timers + left.watches > 0) throw new Error(`is left: ${JSON.stringify(left)}`);
}

/** Returns `namespace/name`, or the name alone. */
export function keyOf({ metadata: { namespace, name = '' } }: KubernetesObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** Returns the sorted keys of the HealthViews. */
export async function keysOf(client: Client, options: object = {}): Promise<string[]> {
  const { items } = await client.list(HealthView, options);
  return items.map(keyOf).sort();
}

/** Returns the first events of a watch as `ADDED namespace/name`; fewer if it ends. */
export async function eventsOf(client: Client, count: number): Promise<string[]> {
  const events: string[] = [];
  for await (const event of client.watch(HealthView)) {
    if (event.type === 'BOOKMARK') continue;
    events.push(`${event.type} ${keyOf(event.object)}`);
    if (events.length === count) break;
  }
  return events;
}
