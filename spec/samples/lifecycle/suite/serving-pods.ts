import type { Client } from '../../../../lib/client/index.js';
import { Pod, Service } from '../../../../lib/object/kinds.js';
import { serverName } from '../../../../samples/lifecycle/http-server.js';

/** Returns the ready pods behind the Service. */
export async function servingPods(client: Client, namespace: string): Promise<readonly Pod[]> {
  const { spec } = await client.get(Service, { name: serverName, namespace });
  const labels = Object.entries(spec?.selector ?? {}).map(([key, value]) => `${key}=${value}`);
  const { items } = await client.list(Pod, { namespace, labelSelector: labels.join() });
  return items.filter(isReady);
}

function isReady({ metadata, status }: Pod): boolean {
  const ready = status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True');
  return ready === true && metadata.deletionTimestamp === undefined;
}
