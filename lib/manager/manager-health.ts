import type { InformerStatus } from '../cache/index.js';
import { describeMissing } from '../cache/index.js';
import type { ActiveReconcile } from '../controller/index.js';
import { describeObject } from '../object/index.js';
import {
  errorMessage,
  isOperatorError,
  refuseNonNumbers,
  refuseUnknownOptions,
  OperatorError,
} from '../system/index.js';
import type { Clock, Logger, Metrics, Resolved } from '../system/index.js';
import { EventLoopMonitor, HealthChecks, answerHealth } from './health-checks.js';
import { HttpEndpoint, refusePort } from './http-endpoint.js';
import type { ManagerStatus } from './manager-entries.js';
import type { Runnable, RunnableState } from './runnable.js';

interface ManagerHealthParts {
  readonly options: ResolvedHealthOptions;
  readonly status: StatusSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Health checks of a manager: its own and those added by users. */
export class ManagerHealth {
  readonly healthz: HealthChecks;
  readonly readyz: HealthChecks;
  /** Monitors the event loop while the manager runs. */
  readonly monitor: EventLoopMonitor;
  readonly #parts: ManagerHealthParts;

  constructor(parts: ManagerHealthParts) {
    const { options, status, clock } = parts;
    this.#parts = parts;
    this.monitor = new EventLoopMonitor({ ...parts, stallMs: options.stallMs });
    const { checkTimeoutMs, stuckReconcileFactor } = options;
    this.healthz = new HealthChecks({ clock, checkTimeoutMs });
    this.readyz = new HealthChecks({ clock, checkTimeoutMs });
    const live = [ping, this.monitor.check, stuckReconcilesCheck(status, stuckReconcileFactor)];
    for (const check of live) this.healthz.add(check);
    const ready = [cachesCheck, webhooksCheck, leaderElectionCheck, heldKeysCheck, shutdownCheck];
    this.readyz.add(ping);
    for (const newCheck of ready) this.readyz.add(newCheck(status));
  }

  /** Returns the server of `/healthz` and `/readyz`. */
  newServer(): Runnable {
    const { options, clock } = this.#parts;
    const { host, port } = options;
    const paths = { healthz: this.healthz, readyz: this.readyz };
    const answer = (question: Parameters<typeof answerHealth>[1]) => answerHealth(paths, question);
    return new HttpEndpoint({ name: 'health-server', host, port, clock, answer });
  }
}

/** One check of `/healthz` or `/readyz`. */
export interface HealthCheck {
  /** One path segment: `/readyz/<name>` runs only this check, `?exclude=<name>` omits it. */
  readonly name: string;
  /**
   * Returns or resolves if healthy; throws a short description of the problem, without secrets. A returned
   * `false` fails too.
   */
  check(signal: AbortSignal): void | Promise<void>;
  /** Returns the text that `?verbose` adds to `ok`; short and without secrets. */
  remark?(): string | undefined;
}

/** Returns the status that the checks evaluate. */
type StatusSource = () => ManagerStatus;

/** Always passes: the process responds. */
const ping: HealthCheck = { name: 'ping', check: () => undefined };

/**
 * Fails until every cache has synced, and while a kind is not served or RBAC forbids to read it. An interrupted watch
 * does not fail the check: the cache still answers reads, and otherwise all replicas would fail at the same time. Only
 * the first cluster counts: a failure of another one must not take down this cluster's webhooks. Quarantined objects of
 * all clusters are reported as a remark.
 */
export function cachesCheck(status: StatusSource): HealthCheck {
  return {
    name: 'caches',
    check: () => {
      const { phase, clusters } = status();
      const [home] = clusters;
      const problems = (home?.caches ?? []).flatMap((cache) => problemOf(cache) ?? []);
      if (problems.length > 0) throw notReady(problems.join('; '));
      if (phase === 'new' || phase === 'starting') throw notReady('the manager starts');
    },
    remark: () => quarantineRemark(status()),
  };
}

/** Maximum number of quarantined objects in the remark. */
const maxNamed = 5;

function quarantineRemark({ clusters }: ManagerStatus): string | undefined {
  const objects = clusters.flatMap(({ caches }) => caches.flatMap((cache) => cache.quarantined));
  if (objects.length === 0) return undefined;
  const named = objects
    .slice(0, maxNamed)
    .map((object) => `${describeObject(object)} (${object.reason})`);
  const more = objects.length > maxNamed ? [`${objects.length - maxNamed} more`] : [];
  return `in quarantine: ${[...named, ...more].join('; ')}`;
}

function problemOf(cache: InformerStatus): string | undefined {
  const { kind, apiVersion, synced, missing, problem } = cache;
  if (synced && missing === undefined) return undefined;
  const said = problem instanceof Error ? problem.message : 'still listing';
  const reason = missing === undefined ? said : `${describeMissing(missing)} (${said})`;
  return `${kind} (${apiVersion}): ${reason}`;
}

/** Fails until every webhook server is ready, or has ended by itself. */
function webhooksCheck(status: StatusSource): HealthCheck {
  return {
    name: 'webhooks',
    check: () => {
      const down = status()
        .runnables.filter(({ phase, state }) => phase === 'webhook' && !isUp.has(state))
        .map(({ name, state }) => `${name}: ${state}`);
      if (down.length > 0) throw notReady(down.join('; '));
    },
  };
}

const isUp: ReadonlySet<RunnableState> = new Set(['ready', 'ended']);

/** Time without a known leader after which an election problem fails the check, in milliseconds. */
const leaderlessMs = 15_000;

/**
 * Passes on the leader and on standby replicas. Fails if RBAC forbids the Lease. Once a leader was seen, any
 * other problem is only a remark. Otherwise an outage of the API server would make all replicas unready at
 * the same time.
 */
function leaderElectionCheck(status: StatusSource): HealthCheck {
  return {
    name: 'leader-election',
    check: () => {
      const { phase, election } = status();
      if (phase !== 'running') throw notReady('neither leads nor stands by yet');
      if (election?.problem === undefined) return;
      const isOld = election.leaderlessMs >= leaderlessMs;
      if (isOperatorError(election.problem, 'LeaseForbidden') || isOld)
        throw notReady(errorMessage(election.problem));
    },
    remark: () => {
      const { problem } = status().election ?? {};
      return problem === undefined ? undefined : errorMessage(problem);
    },
  };
}

/** Fails once the manager is stopping, so that it receives no more requests. */
function shutdownCheck(status: StatusSource): HealthCheck {
  return {
    name: 'shutdown',
    check: () => {
      const { phase } = status();
      if (phase === 'stopping' || phase === 'stopped') throw notReady('the manager stops');
    },
  };
}

/** Fails while a reconcile exceeds its timeout: its key cannot be reconciled meanwhile. */
function heldKeysCheck(status: StatusSource): HealthCheck {
  return {
    name: 'reconciles',
    check: () => throwHeld(status(), () => true),
  };
}

/**
 * Fails while a reconcile lasts longer than `factor` times its timeout: only a restart releases its key.
 * Controllers without a timeout are not checked.
 */
function stuckReconcilesCheck(status: StatusSource, factor: number): HealthCheck {
  return {
    name: 'reconciles',
    check: () =>
      throwHeld(status(), ({ lastedMs, heldMs }) => lastedMs >= factor * (lastedMs - heldMs)),
  };
}

function throwHeld(
  { controllers }: ManagerStatus,
  matters: (reconcile: ActiveReconcile) => boolean,
): void {
  const held = controllers.flatMap((controller) =>
    controller.held.filter(matters).map(({ cluster, key, lastedMs }) => {
      const where = cluster === '' ? '' : ` of cluster ${cluster}`;
      return `${controller.name}: the reconcile of ${key}${where} has not ended after ${Math.round(lastedMs / 1_000)} s`;
    }),
  );
  if (held.length > 0) throw notReady(held.join('; '));
}

function notReady(why: string): OperatorError {
  return new OperatorError('Timeout', why);
}

/** Options of the server for `/healthz` and `/readyz`. */
export interface HealthOptions {
  /** The address to listen on. @defaultValue all addresses of the machine */
  readonly host?: string | undefined;
  /** 0 selects a free port. @defaultValue 8081 */
  readonly port?: number | undefined;
  /** Time limit of a check, in milliseconds, above 0. @defaultValue 5_000 */
  readonly checkTimeoutMs?: number | undefined;
  /**
   * Duration of an event-loop stall, in milliseconds. The second stall within 20 s fails `/healthz`.
   * @defaultValue 10_000
   */
  readonly stallMs?: number | undefined;
  /**
   * A reconcile that lasts this many times its `reconcileTimeoutMs` fails `/healthz`. At least 1; `Infinity`:
   * never. @defaultValue 10
   */
  readonly stuckReconcileFactor?: number | undefined;
}

export type ResolvedHealthOptions = Resolved<HealthOptions, 'host'>;

/** Fills in the defaults. @throws OperatorError `InvalidOption`: an option is out of its range. */
export function resolveHealthOptions(options: HealthOptions): ResolvedHealthOptions {
  const { host, port = 8081, checkTimeoutMs = 5_000, stallMs = 10_000 } = options;
  const { stuckReconcileFactor = 10 } = options;
  const refuse = (what: string): never => {
    throw new OperatorError('InvalidOption', `health: ${what}`);
  };
  refusePort('health', port);
  refuseNonNumbers('health', { checkTimeoutMs, stallMs, stuckReconcileFactor });
  if (!(checkTimeoutMs > 0)) refuse(`checkTimeoutMs ${checkTimeoutMs}: want more than 0`);
  if (!(stallMs > 0)) refuse(`stallMs ${stallMs}: want more than 0`);
  if (!(stuckReconcileFactor >= 1)) {
    refuse(`stuckReconcileFactor ${stuckReconcileFactor}: want 1 or more`);
  }
  const resolved = { host, port, checkTimeoutMs, stallMs, stuckReconcileFactor };
  refuseUnknownOptions<HealthOptions>('health', options, resolved);
  return resolved;
}
