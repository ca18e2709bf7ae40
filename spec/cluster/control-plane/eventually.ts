import { setTimeout as delay } from 'node:timers/promises';

/**
 * Calls `check` until it no longer throws, and returns its result. For specs against a real
 * cluster, whose controllers take their time.
 * @param timeoutMs - after which the last error of `check` is thrown.
 */
export async function eventually<T>(check: () => Promise<T>, timeoutMs = 30_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await delay(50);
  }
}
