import { refuseUnknownOptions } from '../system/known-options.js';
import type { OptionNames } from '../system/known-options.js';
import { OperatorError } from '../system/operator-error.js';
import type { BackoffOptions } from './backoff.js';
import type { ControllerEventListener } from './controller-event.js';
import type { HotLoopOptions } from './hot-loop-detector.js';

/** Options of a controller. */
export interface ControllerOptions {
  /** For logs and metrics; no two controllers of a process may share it. @defaultValue the kind, in lower case */
  readonly name?: string | undefined;
  /** Reporter of the events of `context.recorder`, a qualified name. @defaultValue `name` */
  readonly reportingController?: string | undefined;
  /** How many keys are reconciled at once; a whole number, at least 1. @defaultValue 1 */
  readonly maxConcurrentReconciles?: number | undefined;
  /**
   * How long a reconcile may take, in milliseconds, above 0; then its signal is aborted, its worker
   * is free, and it counts as failed. @defaultValue Infinity: no limit
   */
  readonly reconcileTimeoutMs?: number | undefined;
  /** The delays of keys that fail. @defaultValue 5 ms, doubling to 1,000 s */
  readonly backoff?: BackoffOptions | undefined;
  /**
   * When a key writes one object too often; `false`: never. @defaultValue more than 10 times in a
   * minute in circles, or 120 times at all
   */
  readonly hotLoop?: HotLoopOptions | false | undefined;
  /** Told of what happens in this controller, after the listener of its runtime. @defaultValue nobody */
  readonly onEvent?: ControllerEventListener | undefined;
}

/** {@link ControllerOptions}, resolved. */
export interface ResolvedControllerOptions {
  readonly name: string;
  readonly reportingController: string;
  readonly maxConcurrentReconciles: number;
  readonly reconcileTimeoutMs: number;
  readonly backoff: BackoffOptions;
  readonly hotLoop: HotLoopOptions | false;
  readonly onEvent: ControllerEventListener | undefined;
}

/** The names of {@link ControllerOptions}. */
export const controllerOptionNames: OptionNames<ControllerOptions> = {
  ...{ name: true, reportingController: true },
  ...{ maxConcurrentReconciles: true, reconcileTimeoutMs: true },
  ...{ backoff: true, hotLoop: true, onEvent: true },
};

/**
 * Fills in the defaults.
 * @throws OperatorError `InvalidOption`: an option is unknown, or out of its range.
 */
export function resolveControllerOptions(
  kind: string,
  options: ControllerOptions,
): ResolvedControllerOptions {
  refuseUnknownOptions('controller options', options, controllerOptionNames);
  const { name = kind.toLowerCase(), maxConcurrentReconciles = 1 } = options;
  const { reportingController = name } = options;
  const { reconcileTimeoutMs = Infinity, backoff = {}, hotLoop = {}, onEvent } = options;
  const refuse = (what: string): never => {
    throw new OperatorError('InvalidOption', `controller ${name}: ${what}`);
  };
  if (name === '') refuse('name is empty');
  if (!(Number.isInteger(maxConcurrentReconciles) && maxConcurrentReconciles >= 1)) {
    refuse(`maxConcurrentReconciles ${maxConcurrentReconciles}: want 1, 2, …`);
  }
  if (!(reconcileTimeoutMs > 0)) {
    refuse(`reconcileTimeoutMs ${reconcileTimeoutMs}: want more than 0`);
  }
  return {
    ...{ name, reportingController, maxConcurrentReconciles, reconcileTimeoutMs },
    ...{ backoff, hotLoop, onEvent },
  };
}
