import { refuseUnknownOptions } from '../system/known-options.js';
import type { OptionNames } from '../system/known-options.js';
import { OperatorError } from '../system/operator-error.js';
import type { BackoffOptions } from './backoff.js';
import type { ControllerEventListener } from './controller-event.js';
import type { HotLoopOptions } from './hot-loop-detector.js';

/** Options of a controller. */
export interface ControllerOptions {
  /** The name in logs and metrics; unique within the process. @defaultValue the kind, in lower case */
  readonly name?: string | undefined;
  /** The reporter of the events of `context.recorder`; a qualified name. @defaultValue `name` */
  readonly reportingController?: string | undefined;
  /** The number of keys reconciled at once; an integer, at least 1. @defaultValue 1 */
  readonly maxConcurrentReconciles?: number | undefined;
  /**
   * The time limit of a reconcile, in milliseconds; above 0. After it, the signal is aborted, the worker is
   * free, and the reconcile counts as failed. @defaultValue Infinity: no limit
   */
  readonly reconcileTimeoutMs?: number | undefined;
  /** The back-off of failing keys. @defaultValue 5 ms, doubling to 1,000 s */
  readonly backoff?: BackoffOptions | undefined;
  /**
   * The limits beyond which a key writes one object too often; `false` disables the check.
   * @defaultValue more than 10 repeating writes or 120 writes in total within a minute
   */
  readonly hotLoop?: HotLoopOptions | false | undefined;
  /** Receives the events of this controller, after the runtime's listener. @defaultValue none */
  readonly onEvent?: ControllerEventListener | undefined;
}

/** {@link ControllerOptions} with the defaults filled in. */
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
 * @throws OperatorError `InvalidOption`: an option is unknown or out of range.
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
