import type { Clock } from '../../system/clock.js';
import { isOperatorError } from '../../system/operator-error.js';

/** Options of {@link tellWhenStuck}. */
export interface StuckWatch {
  /** The signal of the reconcile: aborted with `Timeout` when its time is over. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The time-out of a reconcile, in milliseconds; `Infinity` for no limit. */
  readonly timeoutMs: number;
  /** Called once, with the milliseconds that the work has taken so far. */
  readonly tell: (lastedMs: number) => void;
}

/** Without a time-out, a reconcile is reported after this many milliseconds. */
const longPassMs = 60_000;

/**
 * Waits for `work`, and reports if it is still running after its time-out: hung work would otherwise not be
 * located.
 */
export async function tellWhenStuck<R>(watch: StuckWatch, work: () => Promise<R>): Promise<R> {
  const { signal, clock, timeoutMs, tell } = watch;
  const startedMs = clock.monotonicMs();
  const tellNow = (): void => tell(clock.monotonicMs() - startedMs);
  const onAbort = (): void => {
    if (isOperatorError(signal.reason, 'Timeout')) tellNow();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = timeoutMs === Infinity ? clock.setTimer(tellNow, longPassMs) : undefined;
  try {
    return await work();
  } finally {
    timer?.cancel();
    signal.removeEventListener('abort', onAbort);
  }
}
