import { errorMessage, oneLine, sleep, OperatorError } from '../system/index.js';
import type { Clock, Timer, Logger, Histogram, Metrics } from '../system/index.js';
import type { HttpAnswer, HttpQuestion } from './http-endpoint.js';
import type { HealthCheck } from './manager-health.js';

type HealthResult =
  | { readonly name: string; readonly type: 'ok'; readonly remark: string | undefined }
  | { readonly name: string; readonly type: 'excluded' }
  | { readonly name: string; readonly type: 'failed'; readonly reason: string };

interface HealthChecksOptions {
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
      throw new OperatorError(
        'InvalidOption',
        `two checks are called ${name}; give one of them another name`,
      );
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

  has(name: string): boolean {
    return this.#checks.has(name);
  }

  /** Runs all checks concurrently, except those in `excluded`. */
  async run(signal: AbortSignal, excluded: ReadonlySet<string>): Promise<readonly HealthResult[]> {
    return Promise.all(
      [...this.#checks].map(async ([name, check]) =>
        excluded.has(name) ? { name, type: 'excluded' } : this.#result(name, check, signal),
      ),
    );
  }

  /** Runs one check; returns undefined for an unknown name. */
  async runOne(name: string, signal: AbortSignal): Promise<HealthResult | undefined> {
    const check = this.#checks.get(name);
    return check && this.#result(name, check, signal);
  }

  async #result(name: string, check: HealthCheck, signal: AbortSignal): Promise<HealthResult> {
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    try {
      const checked = async (): Promise<unknown> => check.check(either);
      const result = await Promise.race([checked(), this.#late(either)]);
      // Plain JavaScript, and functions such as `() => cache.isSynced`, can return false instead of throwing.
      if (result === false) return { name, type: 'failed', reason: 'the check returned false' };
      const remark = check.remark?.();
      return { name, type: 'ok', remark: remark === undefined ? undefined : oneLine(remark) };
    } catch (error) {
      // The response has one line per check.
      return { name, type: 'failed', reason: oneLine(errorMessage(error)) };
    } finally {
      over.abort();
    }
  }

  async #late(signal: AbortSignal): Promise<never> {
    const { clock, checkTimeoutMs } = this.#options;
    await sleep(clock, checkTimeoutMs, signal);
    throw new OperatorError('Timeout', `no answer in ${checkTimeoutMs} ms`);
  }
}

/** Checks by path, without its slash: `healthz`, `readyz`. */
type HealthPaths = Readonly<Record<string, HealthChecks>>;

/**
 * Answers `/healthz`, `/readyz` and single checks of each, in the format of Kubernetes components: `ok`, or a
 * list of checks if one failed or `?verbose` is given. `?exclude=name` omits a check. Unlike Kubernetes,
 * `?verbose` includes the reasons of failures, and remarks.
 */
export async function answerHealth(
  paths: HealthPaths,
  { url, signal, logger }: HttpQuestion,
): Promise<HttpAnswer> {
  const [path = '', name, ...rest] = url.pathname.replace(/^\/+|\/+$/g, '').split('/');
  const checks = Object.hasOwn(paths, path) ? paths[path] : undefined;
  if (checks === undefined || rest.length > 0) return notFound;
  if (name !== undefined) {
    const result = await checks.runOne(name, signal);
    if (result === undefined) return notFound;
    if (result.type !== 'failed') return { status: 200, body: 'ok' };
    return { status: 500, body: `internal server error: ${result.reason}\n` };
  }
  const excluded = new Set(url.searchParams.getAll('exclude'));
  const results = await checks.run(signal, excluded);
  const failed = results.filter((result) => result.type === 'failed');
  if (failed.length > 0) logger.info(`${path} check failed`, { failed });
  const isVerbose = url.searchParams.has('verbose');
  if (failed.length === 0 && !isVerbose) return { status: 200, body: 'ok' };
  const unknown = [...excluded].filter((each) => !checks.has(each));
  const lines = [
    ...results.map((result) => lineOf(result, isVerbose)),
    ...(unknown.length > 0 ? [warning(unknown)] : []),
    `${path} check ${failed.length > 0 ? 'failed' : 'passed'}`,
  ];
  return { status: failed.length > 0 ? 500 : 200, body: `${lines.join('\n')}\n` };
}

const notFound: HttpAnswer = { status: 404, body: '404 page not found\n' };

function lineOf(result: HealthResult, isVerbose: boolean): string {
  switch (result.type) {
    case 'ok':
      return `[+]${result.name} ok${isVerbose && result.remark !== undefined ? `: ${result.remark}` : ''}`;
    case 'excluded':
      return `[+]${result.name} excluded: ok`;
    case 'failed':
      return `[-]${result.name} failed: ${isVerbose ? result.reason : 'reason withheld'}`;
  }
}

function warning(unknown: readonly string[]): string {
  const names = unknown.map((name) => JSON.stringify(name)).join(', ');
  return `warn: some health checks cannot be excluded: no matches for ${names}`;
}

interface EventLoopMonitorOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /**
   * Duration of a stall in milliseconds. Two stalls in quick succession fail the liveness check for a while.
   */
  readonly stallMs: number;
}

// Interval of the measurements.
const everyMs = 1_000;

/** Time for which a stall counts as the first of two, in milliseconds. */
const stallMemoryMs = 20_000;

interface Stall {
  /** Time at which the timer was due. */
  readonly dueMs: number;
  readonly overMs: number;
  /** True if another stall ended shortly before this one. */
  readonly isRepeated: boolean;
}

/**
 * Detects stalls of the event loop, caused by a long computation or a stopped process. During a stall no probe is
 * answered, and the kubelet counts that as a failure. After two stalls in quick succession, this check also fails the
 * probes that are answered. After a single stall it does not fail: the kubelet would count a second failure, and could
 * restart the process although the stall is over.
 */
export class EventLoopMonitor {
  readonly #options: EventLoopMonitorOptions;
  readonly #lag: Histogram;
  #timer: Timer | undefined;
  #dueMs = 0;
  #stall: Stall | undefined;

  constructor(options: EventLoopMonitorOptions) {
    this.#options = options;
    this.#lag = options.metrics.histogram({
      name: 'operator_builder_event_loop_lag_seconds',
      help: 'Delay of a timer beyond its due time, while the event loop was busy.',
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
    });
  }

  start(): void {
    const { clock } = this.#options;
    this.#dueMs = clock.monotonicMs() + everyMs;
    this.#timer = clock.setTimer(() => this.#look(), everyMs);
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Fails for 20 s after a stall of `stallMs` that began within 20 s after another one. */
  get check(): HealthCheck {
    return {
      name: 'event-loop',
      check: () => {
        // After a stall, the probe may be handled before the timer that measures it.
        const stall = this.#noteStall();
        if (stall === undefined || !stall.isRepeated) return;
        if (this.#options.clock.monotonicMs() - stall.overMs > stallMemoryMs) return;
        throw stalled(stall);
      },
    };
  }

  #look(): void {
    const { clock, logger } = this.#options;
    const lagMs = Math.max(0, clock.monotonicMs() - this.#dueMs);
    this.#lag.observe(lagMs / 1_000);
    this.#noteStall();
    if (lagMs >= everyMs) logger.warn('event loop blocked', { lagMs: Math.round(lagMs) });
    this.start();
  }

  /** Records a stall if the event loop was blocked until now. Returns the last stall, which may be an earlier one. */
  #noteStall(): Stall | undefined {
    const { clock, stallMs } = this.#options;
    const [dueMs, overMs, last] = [this.#dueMs, clock.monotonicMs(), this.#stall];
    if (overMs - dueMs < stallMs) return last;
    // An earlier probe may have recorded this stall.
    const isSame = last?.dueMs === dueMs;
    const isSoon = last !== undefined && dueMs - last.overMs <= stallMemoryMs;
    this.#stall = { dueMs, overMs, isRepeated: isSame ? last.isRepeated : isSoon };
    return this.#stall;
  }
}

function stalled({ dueMs, overMs }: Stall): OperatorError {
  const lastedMs = Math.round(overMs - dueMs);
  return new OperatorError('Timeout', `event loop: blocked again, for ${lastedMs} ms`);
}
