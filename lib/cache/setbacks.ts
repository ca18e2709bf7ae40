import { isGone } from '../object/api-error.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import { isOperatorError } from '../system/operator-error.js';
import type { Random } from '../system/random.js';
import type { CacheMetrics } from './cache-metrics.js';
import { ReconnectDelay } from './reconnect-delay.js';
import { retryAfterMs, stateAfterFailure } from './reflector-state.js';
import type { ParkedState, ParkReason, ReflectorState, WorkState } from './reflector-state.js';

/** Options of {@link Setbacks}. */
export interface SetbacksOptions {
  readonly kind: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: CacheMetrics;
}

/** A failed list or watch. */
export interface Failure {
  readonly error: unknown;
  readonly lastedMs: number;
  /** True for a watch that worked until now. */
  readonly worked?: boolean;
  /** True if the reflector is already parked, so that the failure has been logged. */
  readonly known?: boolean;
}

/** A watch that ends sooner than this, with nothing new, counts as failed. */
export const shortWatchMs = 1_000;

const parkedFor: Readonly<Record<ParkReason, string>> = {
  unknownKind: 'wait for the kind to appear',
  malformed: 'wait long, since the request itself is invalid',
};

/** Chooses a reflector's next state and delay after a failure; logs and counts the failure. */
export class Setbacks {
  readonly #options: SetbacksOptions;
  readonly #delay: ReconnectDelay;

  constructor(options: SetbacksOptions) {
    this.#options = options;
    this.#delay = new ReconnectDelay(options.clock, options.random);
  }

  /** @param relist - the state that lists in the way that the server supports */
  stateAfter(from: WorkState, failure: Failure, relist: WorkState): ReflectorState {
    const { error, lastedMs, worked = false } = failure;
    const next = stateAfterFailure(from, error);
    if (next === 'unknownKind' || next === 'malformed') return this.#park(from, next, failure);
    const then = next === 'relist' ? relist : next;
    // A 410 Gone is routine: relist without delay, unless the watch expired at once.
    const expired = from.phase === 'watch' && isGone(error) && lastedMs >= shortWatchMs;
    const resumes = worked && then.phase === 'watch';
    const waitMs = (): number => (resumes ? this.#delay.afterHealth() : this.#delay.next());
    const delayMs = expired ? 0 : Math.max(waitMs(), retryAfterMs(error));
    this.#report(`${from.phase} failed, next: ${then.phase}`, { error, delayMs, quiet: expired });
    return expired ? then : { phase: 'backOff', error, delayMs, then };
  }

  #park(from: WorkState, why: ParkReason, { error, known = false }: Failure): ParkedState {
    const waitMs = why === 'malformed' ? this.#delay.longest() : this.#delay.nextLook();
    const delayMs = Math.max(waitMs, retryAfterMs(error));
    const message = `${from.phase} failed, next: ${parkedFor[why]}`;
    this.#report(message, { error, delayMs, quiet: known });
    return { phase: 'parked', why, error, delayMs };
  }

  #report(
    message: string,
    { error, delayMs, quiet }: { error: unknown; delayMs: number; quiet: boolean },
  ): void {
    const { kind, logger, metrics } = this.#options;
    const code = isOperatorError(error) ? error.code : 'unknown';
    metrics.watchErrors.add(1, { kind, code });
    const fields = { error, retryInMs: Math.round(delayMs) };
    if (quiet) logger.debug(`${kind}: ${message}`, fields);
    else logger.warn(`${kind}: ${message}`, fields);
  }
}
