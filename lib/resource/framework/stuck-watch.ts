import type { Clock } from '../../system/clock.js';
import { isOperatorError } from '../../system/operator-error.js';

/** What {@link tellWhenStuck} looks at. */
export interface StuckWatch {
  /** Of the pass: aborted with `Timeout` when its time is over. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The longest that a pass may take, in milliseconds; `Infinity`: no limit. */
  readonly timeoutMs: number;
  /** Told once, with the milliseconds that the work has taken so far. */
  readonly tell: (lastedMs: number) => void;
}

/** Where there is no limit, a pass that takes so long is told of all the same, in milliseconds. */
const longPassMs = 60_000;

/**
 * Waits for `work`; tells if it goes on when its time is over: it may hang, and then nobody else
 * would say where.
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
