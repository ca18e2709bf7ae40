import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import type { Metrics } from '../system/metrics.js';
import { EventLoopMonitor } from './health/event-loop-monitor.js';
import { HealthChecks } from './health/health-checks.js';
import { answerHealth } from './health/health-endpoint.js';
import type { ResolvedHealthOptions } from './health/health-options.js';
import {
  cachesCheck,
  heldKeysCheck,
  leaderElectionCheck,
  ping,
  shutdownCheck,
  stuckReconcilesCheck,
  webhooksCheck,
} from './health/manager-checks.js';
import type { StatusSource } from './health/manager-checks.js';
import { HttpEndpoint } from './http/http-endpoint.js';
import type { Runnable } from './runnable.js';

/** Dependencies of `ManagerHealth`. */
export interface ManagerHealthParts {
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
  readonly #parts: ManagerHealthParts;
  readonly #monitor: EventLoopMonitor;

  constructor(parts: ManagerHealthParts) {
    const { options, status, clock } = parts;
    this.#parts = parts;
    this.#monitor = new EventLoopMonitor({ ...parts, stallMs: options.stallMs });
    const { checkTimeoutMs, stuckReconcileFactor } = options;
    this.healthz = new HealthChecks({ clock, checkTimeoutMs });
    this.readyz = new HealthChecks({ clock, checkTimeoutMs });
    const live = [ping, this.#monitor.check, stuckReconcilesCheck(status, stuckReconcileFactor)];
    for (const check of live) this.healthz.add(check);
    const ready = [cachesCheck, webhooksCheck, leaderElectionCheck, heldKeysCheck, shutdownCheck];
    this.readyz.add(ping);
    for (const newCheck of ready) this.readyz.add(newCheck(status));
  }

  /** Monitors the event loop while the manager runs. */
  get monitor(): EventLoopMonitor {
    return this.#monitor;
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
  /** Returns or resolves if healthy; throws a short description of the problem, without secrets. */
  check(signal: AbortSignal): void | Promise<void>;
  /** Returns the text that `?verbose` adds to `ok`; short and without secrets. */
  remark?(): string | undefined;
}
