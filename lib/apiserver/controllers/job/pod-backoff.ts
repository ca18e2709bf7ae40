import { delayAfter } from '../../../system/backoff.js';

const longestMs = 600_000;

interface BackoffRecord {
  readonly failures: number;
  readonly lastFailureMs: number;
}

/** Delay of a Job's new pods after failures. It doubles with each consecutive failure, up to 10 minutes. */
export class PodBackoff {
  readonly #firstMs: number;
  readonly #records = new Map<string, BackoffRecord>();

  /** @param firstMs - the delay after the first failure, in milliseconds */
  constructor(firstMs: number) {
    this.#firstMs = firstMs;
  }

  /** Records pods of the Job `uid` that have just ended. */
  count(
    uid: string,
    ended: { readonly succeeded: number; readonly failed: number },
    nowMs: number,
  ): void {
    if (ended.failed === 0 && ended.succeeded === 0) return;
    const before = ended.succeeded > 0 ? 0 : (this.#records.get(uid)?.failures ?? 0);
    if (ended.failed === 0) this.#records.delete(uid);
    else this.#records.set(uid, { failures: before + ended.failed, lastFailureMs: nowMs });
  }

  /** Returns the milliseconds until the Job may create pods; 0 means now. */
  waitMs(uid: string, nowMs: number): number {
    const record = this.#records.get(uid);
    if (record === undefined) return 0;
    const backoffMs = delayAfter(record.failures, { baseMs: this.#firstMs, maxMs: longestMs });
    return Math.max(0, record.lastFailureMs + backoffMs - nowMs);
  }

  forget(uid: string): void {
    this.#records.delete(uid);
  }
}
