import type { WatchedReconcile } from '../../controller/index.js';
import { OperatorError, sleep, systemClock, VirtualClock } from '../../system/index.js';
import type { Clock } from '../../system/index.js';

/** The real time that a handler gets for calls outside of the cluster, in milliseconds. */
const longestMs = 5_000;
/**
 * The real time for work that is not among the active resources of the process, such as that of a thread, in
 * milliseconds.
 */
const longestUnseenMs = 100;
const portionMs = 2;

/** The reconciles in progress of one process of the operator. */
export class Handlers {
  /** The real time that each reconcile has used for calls outside of the cluster. */
  readonly #spentMs = new Map<WatchedReconcile, number>();
  /** The number of active sockets, timers and other resources when no handler runs. */
  #usual = activity();
  #unseenMs = 0;
  #isDead = false;

  /** The keys of the handlers that have not ended. */
  get keys(): readonly string[] {
    return [...this.#spentMs.keys()].map(({ work }) => work.text);
  }

  /** Adds a reconcile until it ends. @throws OperatorError `Stopped`: the operator is dead. */
  began(reconcile: WatchedReconcile): void {
    if (this.#isDead) throw killed();
    this.#changed(() => this.#spentMs.set(reconcile, 0));
    void reconcile.whenEnded().then(() => this.#changed(() => this.#spentMs.delete(reconcile)));
  }

  /** Aborts the signals of all handlers, and gives each time to end. */
  abort(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    for (const reconcile of [...this.#spentMs.keys()]) {
      this.#changed(() => this.#spentMs.set(reconcile, 0));
      reconcile.abort(killed());
    }
  }

  /**
   * Lets a little real time pass if a handler waits for something other than the cluster and its clock.
   * @returns false if no handler waits for anything else, or each has used up its time
   */
  async letRealTimePass(): Promise<boolean> {
    if (this.#spentMs.size === 0) {
      this.#usual = activity();
      return false;
    }
    const waiting = [...this.#spentMs].filter(([, spentMs]) => spentMs < longestMs);
    if (activity() > this.#usual) this.#unseenMs = 0;
    if (waiting.length === 0 || this.#unseenMs >= longestUnseenMs) return false;
    const startMs = systemClock.monotonicMs();
    await sleep(systemClock, portionMs);
    const passedMs = systemClock.monotonicMs() - startMs;
    this.#unseenMs += passedMs;
    for (const [reconcile] of waiting) {
      const spentMs = this.#spentMs.get(reconcile);
      if (spentMs !== undefined) this.#spentMs.set(reconcile, spentMs + passedMs);
    }
    return true;
  }

  #changed(change: () => void): void {
    change();
    this.#unseenMs = 0;
  }
}

/** Returns the error of each request that a killed operator tries to send. */
export function killed(): OperatorError {
  return new OperatorError('Stopped', 'the operator was killed: requests are no longer sent');
}

/** The number of sockets, timers and other resources for which the process waits. */
function activity(): number {
  return process.getActiveResourcesInfo().filter((type) => type !== 'Immediate').length;
}

const pollMs = 50;

/**
 * Lets time pass. A `VirtualClock` completes the work that is due, then advances to the next timer. Any other
 * clock waits for at most 50 ms.
 * @param maxMs - the limit of the time that passes
 */
export async function letTimePass(clock: Clock, maxMs: number): Promise<void> {
  if (clock instanceof VirtualClock) {
    await clock.advance(Math.min(maxMs, clock.nextTimerMs ?? maxMs));
    return;
  }
  await sleep(clock, Math.min(maxMs, pollMs));
}

/** Completes all work that is due now, with a `VirtualClock`. */
export async function letWorkHappen(clock: Clock): Promise<void> {
  if (clock instanceof VirtualClock) await clock.advance(0);
}
