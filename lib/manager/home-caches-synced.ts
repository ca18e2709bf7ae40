import { sleep } from '../system/clock.js';
import { OperatorError } from '../system/operator-error.js';
import type { ManagedCluster } from './managed-cluster.js';
import type { ResolvedManagerOptions } from './manager-options.js';

/**
 * Resolves when the caches of the first cluster have synced. It does not wait for unserved kinds.
 * @throws OperatorError `Aborted`: `cacheSyncTimeoutMs` is over.
 * @throws the signal's reason, as soon as it is aborted.
 */
export async function homeCachesSynced(
  home: ManagedCluster | undefined,
  options: Pick<ResolvedManagerOptions, 'cacheSyncTimeoutMs' | 'clock' | 'logger'>,
  signal: AbortSignal,
): Promise<void> {
  const { cacheSyncTimeoutMs: ms, clock } = options;
  const over = new AbortController();
  const waiting = AbortSignal.any([signal, over.signal]);
  const synced = home?.cache.waitForSync(waiting, { parked: 'pass' });
  const late = ms === Infinity ? undefined : sleep(clock, ms, waiting);
  void late?.then(
    () => over.abort(new OperatorError('Timeout', `caches: not synced after ${ms} ms`)),
    () => undefined,
  );
  try {
    await synced;
  } finally {
    over.abort();
  }
  for (const { parked, kind, apiVersion, problem } of home?.cache.status() ?? []) {
    if (!parked) continue;
    options.logger.warn(`${kind} (${apiVersion}) is not served: waits for it`, { problem });
  }
}
