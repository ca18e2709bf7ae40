import { refuseUnknownOptions } from '../../system/known-options.js';
import { OperatorError } from '../../system/operator-error.js';

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

/** {@link HealthOptions}, resolved. */
export interface ResolvedHealthOptions {
  readonly host: string | undefined;
  readonly port: number;
  readonly checkTimeoutMs: number;
  readonly stallMs: number;
  readonly stuckReconcileFactor: number;
}

/**
 * Fills in the defaults.
 * @throws OperatorError `InvalidOption`: an option is out of its range.
 */
export function resolveHealthOptions(options: HealthOptions): ResolvedHealthOptions {
  const { host, port = 8081, checkTimeoutMs = 5_000, stallMs = 10_000 } = options;
  const { stuckReconcileFactor = 10 } = options;
  const refuse = (what: string): never => {
    throw new OperatorError('InvalidOption', `health: ${what}`);
  };
  if (!(checkTimeoutMs > 0)) refuse(`checkTimeoutMs ${checkTimeoutMs}: want more than 0`);
  if (!(stallMs > 0)) refuse(`stallMs ${stallMs}: want more than 0`);
  if (!(stuckReconcileFactor >= 1)) {
    refuse(`stuckReconcileFactor ${stuckReconcileFactor}: want 1 or more`);
  }
  const resolved = { host, port, checkTimeoutMs, stallMs, stuckReconcileFactor };
  refuseUnknownOptions<HealthOptions>('health', options, resolved);
  return resolved;
}
