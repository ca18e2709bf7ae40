import { dns1123SubdomainProblem } from '../../object/names.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import type { Logger } from '../../system/logger.js';
import { OperatorError } from '../../system/operator-error.js';
import type { DeclarativeManager, Views } from '../views/index.js';
import type { FormerController } from '../runtime/clean-up-target.js';
import { checkCleanUp } from '../runtime/clean-up-target.js';
import type { CleanUpPolicy } from './clean-ups.js';
import { ErrorStream } from './error-stream.js';

/** A server of views: a `ViewApiServer`. The caller starts and stops it. */
export interface ViewsServer {
  /** Serves these views from now on; a second call does nothing. */
  attach(views: Views): unknown;
}

/** Options of an `Operator`. */
export interface OperatorOptions {
  /** Receives the errors; may be shared. @defaultValue a stream of its own, which ends with the operator */
  readonly errors?: ErrorStream | undefined;
  /** Serves the views. @defaultValue undefined: views are readable in this process only */
  readonly apiServer?: ViewsServer | undefined;
  /** @defaultValue the manager's */
  readonly logger?: Logger | undefined;
}

/** {@link OperatorOptions} with defaults. */
export interface ResolvedOperatorOptions {
  readonly errors: ErrorStream;
  readonly ownsErrors: boolean;
  readonly apiServer: ViewsServer | undefined;
  readonly logger: Logger;
}

/** Fills in the defaults. @throws OperatorError `InvalidOption`: an option is unknown. */
export function resolveOperatorOptions(
  options: OperatorOptions,
  { clock, logger: managers }: DeclarativeManager,
): ResolvedOperatorOptions {
  const { errors, apiServer, logger = managers } = options;
  refuseUnknownOptions<OperatorOptions>('Operator', options, { errors, apiServer, logger });
  const ownsErrors = errors === undefined;
  return { errors: errors ?? new ErrorStream({ clock }), ownsErrors, apiServer, logger };
}

/** Options for changing or removing an operator. */
export interface OperatorChangeOptions {
  /**
   * Policy for the objects of removed controllers: `delete` removes them, and the fields that a Patcher
   * wrote; `orphan` keeps them. Views are always removed.
   * @defaultValue 'orphan'
   */
  readonly cleanUp?: CleanUpPolicy | undefined;
  /**
   * Controllers of earlier processes: `delete` also removes their objects, unless a controller with the
   * same name and target exists.
   * @defaultValue none
   */
  readonly former?: readonly FormerController[] | undefined;
}

/** {@link OperatorChangeOptions} with defaults. */
export interface ResolvedOperatorChange {
  readonly cleanUp: CleanUpPolicy;
  readonly former: readonly FormerController[];
}

/**
 * Fills in the defaults.
 * @throws OperatorError `InvalidOption`: an option is unknown, or `cleanUp` is invalid.
 */
export function resolveOperatorChange(options: OperatorChangeOptions): ResolvedOperatorChange {
  const { cleanUp = 'orphan', former = [] } = options;
  refuseUnknownOptions<OperatorChangeOptions>('operator', options, { cleanUp, former });
  checkCleanUp(cleanUp);
  return { cleanUp, former };
}

/** @throws OperatorError `InvalidOption`: the name is invalid in the API group of the operator's views. */
export function checkOperatorName(name: string): void {
  const problem = dns1123SubdomainProblem(name);
  if (problem === undefined) return;
  throw new OperatorError('InvalidOption', `operator ${JSON.stringify(name)}: its name ${problem}`);
}
