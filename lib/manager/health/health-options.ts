import { refuseUnknownOptions } from '../../system/known-options.js';
import { OperatorError } from '../../system/operator-error.js';

/** Options of the server for `/healthz` and `/readyz`. */
export interface HealthOptions {
  /** The address to listen on. @defaultValue every address of the machine */
  readonly host?: string | undefined;
  /** 0: any free one. @defaultValue 8081 */
  readonly port?: number | undefined;
  /** How long a check may take, in milliseconds, above 0. @defaultValue 5_000 */
  readonly checkTimeoutMs?: number | undefined;
  /**
   * A stall of the event loop, in milliseconds: the second one within 20 s makes `/healthz` fail.
   * @defaultValue 10_000
   */
  readonly stallMs?: number | undefined;
  /**
   * A reconcile that lasts so many times its `reconcileTimeoutMs` makes `/healthz` fail, at least 1;
   * `Infinity`: never. @defaultValue 10
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
