import { hostname } from 'node:os';
import type { Client } from '../client/client.js';
import type { Recorder } from '../events/recorder.js';
import { dns1123LabelProblem, dns1123SubdomainProblem } from '../object/names.js';
import { systemClock } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import { silentLogger } from '../system/logger.js';
import type { Logger } from '../system/logger.js';
import { noMetrics } from '../system/metrics.js';
import type { Metrics } from '../system/metrics.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import { OperatorError } from '../system/operator-error.js';
import { systemRandom } from '../system/random.js';
import type { Random } from '../system/random.js';

/** Options of {@link LeaderElector}. */
export interface LeaderElectorOptions {
  /**
   * Reads and writes the Lease; it needs `get`, `create` and `update` on `leases`. Not a fenced one,
   * and not one whose rate limit others use up: renewals must not wait behind them.
   */
  readonly client: Client;
  /** The Lease's name; all replicas have the same. */
  readonly name: string;
  /** The Lease's namespace; all replicas have the same. */
  readonly namespace: string;
  /**
   * Who this process is; no two may be the same, and a process that starts again is another one.
   * @defaultValue host name, `_` and a random UUID
   */
  readonly identity?: string | undefined;
  /**
   * How long the others wait, since they last saw a renewal, before they take the Lease, in
   * milliseconds; written in whole seconds, rounded up. More than `renewDeadlineMs`.
   * @defaultValue 15_000
   */
  readonly leaseDurationMs?: number | undefined;
  /**
   * For how long a leader may write, from the start of its last successful renewal on, in
   * milliseconds. More than 1.2 times `retryPeriodMs`. @defaultValue 10_000
   */
  readonly renewDeadlineMs?: number | undefined;
  /**
   * How often a leader renews, in milliseconds, more than 0; the others look each 1 to 2.2 times as
   * long. @defaultValue 2_000
   */
  readonly retryPeriodMs?: number | undefined;
  /** Give the Lease back at the end, so that a successor takes it at once. @defaultValue true */
  readonly releaseOnCancel?: boolean | undefined;
  /** Gets an Event on the Lease when this process begins and ends to lead. @defaultValue none */
  readonly recorder?: Recorder | undefined;
  /** @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /** @defaultValue the machine's */
  readonly random?: Random | undefined;
  /** @defaultValue silent */
  readonly logger?: Logger | undefined;
  /** Gets `leader_election_master_status` and `leader_election_slowpath_total`. @defaultValue none */
  readonly metrics?: Metrics | undefined;
}

/** {@link LeaderElectorOptions} with every default filled in. */
export interface ResolvedLeaderElectorOptions {
  readonly client: Client;
  readonly name: string;
  readonly namespace: string;
  readonly identity: string;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly releaseOnCancel: boolean;
  readonly recorder: Recorder | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** How much longer than `retryPeriodMs` a candidate waits at most: that much, times 1 + this. */
export const jitterFactor = 1.2;

/** @throws OperatorError `InvalidOption`: an option is missing, out of its range, or contradicts another. */
export function resolveLeaderElectorOptions(
  options: LeaderElectorOptions,
): ResolvedLeaderElectorOptions {
  const { client, name, namespace, recorder, releaseOnCancel = true } = options;
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
  const { clock = systemClock, random = systemRandom } = options;
  const { logger = silentLogger, metrics = noMetrics } = options;
  const { identity = `${hostname()}_${random.uuid()}` } = options;
  refuseMissing({ name, namespace });
  const nameProblem = dns1123SubdomainProblem(name);
  if (nameProblem !== undefined) throw invalid(`name ${JSON.stringify(name)}: ${nameProblem}`);
  const namespaceProblem = dns1123LabelProblem(namespace);
  if (namespaceProblem !== undefined) {
    throw invalid(`namespace ${JSON.stringify(namespace)}: ${namespaceProblem}`);
  }
  if (identity === '') throw invalid('identity is empty: that stands for nobody');
  const times = { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
  refuseTimes(times);
  const resolved = {
    ...{ client, name, namespace, identity, ...times, releaseOnCancel, recorder },
    ...{ clock, random, logger, metrics },
  };
  refuseUnknownOptions<LeaderElectorOptions>('leader election', options, resolved);
  return resolved;
}

/** Plain JavaScript can leave out what the compiler asks for. */
function refuseMissing(given: Readonly<Record<string, string | undefined>>): void {
  for (const [option, value] of Object.entries(given)) {
    if (typeof value === 'string') continue;
    throw invalid(`${option} is missing: give the Lease's, the same to all replicas`);
  }
}

interface Times {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

// Each test is negated, so that NaN is refused too.
function refuseTimes({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: Times): void {
  if (!(retryPeriodMs > 0)) throw invalid(`retryPeriodMs: want more than 0, got ${retryPeriodMs}`);
  if (!(renewDeadlineMs > retryPeriodMs * jitterFactor)) {
    const least = `${jitterFactor} times retryPeriodMs (${retryPeriodMs})`;
    throw invalid(`renewDeadlineMs: want more than ${least}, got ${renewDeadlineMs}`);
  }
  if (!(leaseDurationMs > renewDeadlineMs && leaseDurationMs < Infinity)) {
    const least = `more than renewDeadlineMs (${renewDeadlineMs})`;
    throw invalid(`leaseDurationMs: want ${least}, got ${leaseDurationMs}`);
  }
}

function invalid(what: string): OperatorError {
  return new OperatorError('InvalidOption', `leader election: ${what}`);
}
