import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parse } from 'yaml';
import type { ApiConnection } from './api-connection.js';

/** Name of the simulated node. */
export const nodeName = 'kwok-0';

const plenty = { cpu: '1k', memory: '1Ti', pods: '1M' };

interface Node {
  readonly spec: { readonly taints?: readonly object[] };
  readonly status: { readonly conditions?: readonly { readonly type: string; status: string }[] };
}

/** Creates the node and the default StorageClass, which kwok does not create. */
export async function createClusterObjects(
  api: ApiConnection,
  storageClass: string,
): Promise<void> {
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: nodeName, annotations: { 'kwok.x-k8s.io/node': 'fake' } },
    status: { allocatable: plenty, capacity: plenty },
  };
  await Promise.all([
    api.json({ method: 'POST', path: '/api/v1/nodes', body: node }),
    api.json({
      method: 'POST',
      path: '/apis/storage.k8s.io/v1/storageclasses',
      body: parse(await readFile(storageClass, 'utf8')) as unknown,
    }),
  ]);
}

/** Waits until Pods can be scheduled: the node is Ready and has no taints. */
export async function waitForNode(api: ApiConnection, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const node = await api.json<Node>({ path: `/api/v1/nodes/${nodeName}` });
    if (isSchedulable(node)) return;
    if (Date.now() > deadline) throw new Error(`${nodeName} not ready: ${JSON.stringify(node)}`);
    await delay(50);
  }
}

function isSchedulable({ spec, status }: Node): boolean {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && (spec.taints ?? []).length === 0;
}
