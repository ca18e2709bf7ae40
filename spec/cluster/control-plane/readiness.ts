import { setTimeout as delay } from 'node:timers/promises';
import type { ApiConnection } from './api-connection.js';
import type { Supervisor } from './supervisor.js';

/** Allows for a loaded machine, which takes ten times as long as an idle one. */
const readyTimeoutMs = 60_000;

/**
 * Waits until the API server reports that it is ready.
 * @throws Error: it or etcd ended meanwhile, or it took over a minute.
 */
export async function waitForReady(api: ApiConnection, supervisor: Supervisor): Promise<void> {
  const deadline = Date.now() + readyTimeoutMs;
  for (;;) {
    const answer = await api.send({ path: '/readyz' }).catch((error: unknown) => String(error));
    if (typeof answer !== 'string' && answer.status === 200) return;
    supervisor.assertRunning('etcd');
    supervisor.assertRunning('kube-apiserver');
    if (Date.now() > deadline) {
      throw new Error(`kube-apiserver is not ready: ${JSON.stringify(answer)}`);
    }
    await delay(30);
  }
}
