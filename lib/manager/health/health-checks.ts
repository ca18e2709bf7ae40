import { sleep } from '../../system/clock.js';
import type { Clock } from '../../system/clock.js';
import { OperatorError } from '../../system/operator-error.js';
import type { HealthCheck } from '../manager-health.js';
import { errorMessage } from '../../system/as-error.js';

/** Result of one check. */
export type HealthResult =
  | { readonly name: string; readonly type: 'ok'; readonly remark: string | undefined }
  | { readonly name: string; readonly type: 'excluded' }
  | { readonly name: string; readonly type: 'failed'; readonly reason: string };

/** Options of {@link HealthChecks}. */
export interface HealthChecksOptions {
  readonly clock: Clock;
  /** Time limit of a check, in milliseconds; a slower check fails. */
  readonly checkTimeoutMs: number;
}

/** The checks of `/healthz` or of `/readyz`. */
export class HealthChecks {
  readonly #options: HealthChecksOptions;
  readonly #checks = new Map<string, HealthCheck>();

  constructor(options: HealthChecksOptions) {
    this.#options = options;
  }

  /**
   * Adds a check. @returns a function that removes it
   * @throws OperatorError `InvalidOption`: the name is taken, or is not a path segment.
   */
  add(check: HealthCheck): () => void {
    const { name } = check;
    if (this.#checks.has(name)) {
      throw new OperatorError('InvalidOption', `two checks are called ${name}`);
    }
    if (!/^[\w.~-]+$/.test(name)) {
      const message = `check ${JSON.stringify(name)}: want letters, digits, and . _ ~ - only`;
      throw new OperatorError('InvalidOption', message);
    }
    this.#checks.set(name, check);
    return () => {
      if (this.#checks.get(name) === check) this.#checks.delete(name);
    };
  }

  /** Returns whether a check with this name exists. */
  has(name: string): boolean {
    return this.#checks.has(name);
  }

  /** Runs all checks concurrently, except those in `excluded`. */
  async run(signal: AbortSignal, excluded: ReadonlySet<string>): Promise<readonly HealthResult[]> {
    const names = [...this.#checks.keys()];
    return Promise.all(
      names.map(async (name) =>
        excluded.has(name) ? { name, type: 'excluded' } : this.runOne(name, signal),
      ),
    );
  }

  /** Runs one check; an unknown name fails. */
  async runOne(name: string, signal: AbortSignal): Promise<HealthResult> {
    const check = this.#checks.get(name);
    if (check === undefined) return { name, type: 'failed', reason: 'there is no such check' };
    const over = new AbortController();
    const onAbort = (): void => over.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const checked = async (): Promise<void> => check.check(over.signal);
      await Promise.race([checked(), this.#late(over.signal)]);
      const remark = check.remark?.();
      return { name, type: 'ok', remark: remark === undefined ? undefined : oneLine(remark) };
    } catch (error) {
      return { name, type: 'failed', reason: reasonOf(error) };
    } finally {
      signal.removeEventListener('abort', onAbort);
      over.abort();
    }
  }

  async #late(signal: AbortSignal): Promise<never> {
    const { clock, checkTimeoutMs } = this.#options;
    await sleep(clock, checkTimeoutMs, signal);
    throw new OperatorError('Timeout', `no answer in ${checkTimeoutMs} ms`);
  }
}

function reasonOf(error: unknown): string {
  return oneLine(errorMessage(error));
}

/** The response has one line per check. */
function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ');
}
