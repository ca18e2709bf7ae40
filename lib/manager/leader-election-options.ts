import { hostname } from 'node:os';
import type { Client } from '../client/index.js';
import type { Recorder } from '../events/index.js';
import { dns1123LabelProblem, dns1123SubdomainProblem } from '../object/index.js';
import {
  systemClock,
  refuseNonNumbers,
  refuseUnknownOptions,
  silentLogger,
  noMetrics,
  OperatorError,
  systemRandom,
} from '../system/index.js';
import type { Clock, Logger, Metrics, Random, Resolved } from '../system/index.js';

/** Options of {@link LeaderElector}. */
export interface LeaderElectorOptions {
  /**
   * Reads and writes the Lease; it needs `get`, `create` and `update` on `leases`. Do not pass a fenced
   * client, or one with a shared rate limit: renewals must not wait behind other requests.
   */
  readonly client: Client;
  /** Name of the Lease; the same for all replicas. */
  readonly name: string;
  /** Namespace of the Lease; the same for all replicas. */
  readonly namespace: string;
  /**
   * Identity of this process. It must be unique, even after a restart.
   * @defaultValue host name, `_` and a random UUID
   */
  readonly identity?: string | undefined;
  /**
   * Time that other replicas wait after the last observed renewal before they take the Lease, in
   * milliseconds. Stored in whole seconds, rounded up. More than `renewDeadlineMs`, and at most 2,147,483,647,000.
   * @defaultValue 15_000
   */
  readonly leaseDurationMs?: number | undefined;
  /**
   * Time for which a leader may write after the start of its last successful renewal, in milliseconds. More than 1.2
   * times `retryPeriodMs`. @defaultValue 10_000
   */
  readonly renewDeadlineMs?: number | undefined;
  /**
   * Interval of a leader's renewals, in milliseconds, more than 0. Other replicas check every 1 to 2.2 times
   * this interval. @defaultValue 2_000
   */
  readonly retryPeriodMs?: number | undefined;
  /** Release the Lease at the end, so that another replica takes it at once. @defaultValue true */
  readonly releaseOnCancel?: boolean | undefined;
  /** Records an Event on the Lease when this process starts and stops leading. @defaultValue none */
  readonly recorder?: Recorder | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /**
   * Spreads the attempts of candidates, and generates the random end of the default identity.
   * @defaultValue the system's random source
   */
  readonly random?: Random | undefined;
  /** @defaultValue no logs */
  readonly logger?: Logger | undefined;
  /** Registers `leader_election_master_status` and `leader_election_slowpath_total`. @defaultValue none */
  readonly metrics?: Metrics | undefined;
}

/** {@link LeaderElectorOptions} with every default filled in. */
export type ResolvedLeaderElectorOptions = Resolved<LeaderElectorOptions, 'recorder'>;

/** Longest duration of a Lease, in milliseconds: the API server stores seconds in 32 bits. */
const longestLeaseMs = (2 ** 31 - 1) * 1_000;

/** Maximum jitter of a candidate's wait: it waits up to `retryPeriodMs` times 1 + this factor. */
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
  if (nameProblem !== undefined) throw invalid(`name: ${nameProblem}`);
  const namespaceProblem = dns1123LabelProblem(namespace);
  if (namespaceProblem !== undefined) {
    throw invalid(`namespace: ${namespaceProblem}`);
  }
  if (identity === '') throw invalid('identity must not be empty');
  const times = { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
  refuseTimes('leader election', times);
  const resolved = {
    ...{ client, name, namespace, identity, ...times, releaseOnCancel, recorder },
    ...{ clock, random, logger, metrics },
  };
  refuseUnknownOptions<LeaderElectorOptions>('leader election', options, resolved);
  return resolved;
}

/** Rejects missing options, which plain JavaScript can omit. */
function refuseMissing(given: Readonly<Record<string, string | undefined>>): void {
  for (const [option, value] of Object.entries(given)) {
    if (typeof value === 'string') continue;
    throw invalid(
      `${option} is missing: give the ${option} of the Lease, the same for all replicas`,
    );
  }
}

type Times = Pick<
  ResolvedLeaderElectorOptions,
  'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'
>;

/** @throws OperatorError `InvalidOption`: a duration is out of its range; `subject` begins the message */
export function refuseTimes(subject: string, times: Times): void {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = times;
  const refuse = (what: string): never => {
    throw new OperatorError('InvalidOption', `${subject}: ${what}`);
  };
  refuseNonNumbers(subject, { leaseDurationMs, renewDeadlineMs, retryPeriodMs });
  // The conditions are negated so that NaN is rejected too.
  if (!(retryPeriodMs > 0)) refuse(`retryPeriodMs: want more than 0, got ${retryPeriodMs}`);
  if (!(renewDeadlineMs > retryPeriodMs * jitterFactor)) {
    const least = `${jitterFactor} times retryPeriodMs (${retryPeriodMs})`;
    refuse(`renewDeadlineMs: want more than ${least}, got ${renewDeadlineMs}`);
  }
  if (!(leaseDurationMs > renewDeadlineMs && leaseDurationMs <= longestLeaseMs)) {
    const range = `more than renewDeadlineMs (${renewDeadlineMs}), at most ${longestLeaseMs}`;
    refuse(`leaseDurationMs: want ${range}, got ${leaseDurationMs}`);
  }
}

function invalid(what: string): OperatorError {
  return new OperatorError('InvalidOption', `leader election: ${what}`);
}

/** Returns the metrics of one Lease, with client-go's names. @param name - name of the Lease */
export function leaderElectionMetrics(metrics: Metrics, name: string) {
  const labelNames = ['name'];
  const status = metrics.gauge({
    name: 'leader_election_master_status',
    help: 'Whether this process is the leader of that lease: 1, or 0 for a standby.',
    labelNames,
  });
  const slowPath = metrics.counter({
    name: 'leader_election_slowpath_total',
    help: 'Number of renewals for which a lease had to be read again.',
    labelNames,
  });
  status.set(0, { name });
  return {
    leads: (isLeader: boolean): void => status.set(isLeader ? 1 : 0, { name }),
    /** Counts a renewal that had to read the Lease first. */
    tookSlowPath: (): void => slowPath.add(1, { name }),
  };
}
