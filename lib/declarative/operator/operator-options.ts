import { dns1123SubdomainProblem } from '../../object/names.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import type { Logger } from '../../system/logger.js';
import { OperatorError } from '../../system/operator-error.js';
import type { DeclarativeManager, Views } from '../views/index.js';
import type { FormerController } from '../runtime/clean-up-target.js';
import { checkCleanUp } from '../runtime/clean-up-target.js';
import type { CleanUpPolicy } from './clean-ups.js';
import { ErrorStream } from './error-stream.js';

/** What serves views to others: a `ViewApiServer`. Its life is the caller's: started before us. */
export interface ViewsServer {
  /** Serves these views from now on; once more does nothing. */
  attach(views: Views): unknown;
}

/** Options of an `Operator`. */
export interface OperatorOptions {
  /** Gets its errors; it may be shared. @defaultValue one of its own, which ends with the operator */
  readonly errors?: ErrorStream | undefined;
  /** Serves its views. @defaultValue nobody: they can be read in this process only */
  readonly apiServer?: ViewsServer | undefined;
  /** @defaultValue the manager's */
  readonly logger?: Logger | undefined;
}

/** {@link OperatorOptions} with nothing left open. */
export interface ResolvedOperatorOptions {
  readonly errors: ErrorStream;
  readonly ownsErrors: boolean;
  readonly apiServer: ViewsServer | undefined;
  readonly logger: Logger;
}

/** Fills in the defaults. */
export function resolveOperatorOptions(
  options: OperatorOptions,
  { clock, logger: managers }: DeclarativeManager,
): ResolvedOperatorOptions {
  const { errors, apiServer, logger = managers } = options;
  refuseUnknownOptions<OperatorOptions>('Operator', options, { errors, apiServer, logger });
  const ownsErrors = errors === undefined;
  return { errors: errors ?? new ErrorStream({ clock }), ownsErrors, apiServer, logger };
}

/** How an operator is changed or removed. */
export interface OperatorChangeOptions {
  /**
   * What becomes of objects that removed controllers wrote: `delete`: they go, and so do the fields of
   * a Patcher; `orphan`: they stay. Views always go. @defaultValue 'orphan'
   */
  readonly cleanUp?: CleanUpPolicy | undefined;
  /**
   * Controllers that earlier processes ran: with `delete` what they wrote goes, unless a controller of
   * the same name and target is there. @defaultValue none
   */
  readonly former?: readonly FormerController[] | undefined;
}

/** {@link OperatorChangeOptions} with nothing left open. */
export interface ResolvedOperatorChange {
  readonly cleanUp: CleanUpPolicy;
  readonly former: readonly FormerController[];
}

/**
 * Fills in the defaults.
 * @throws OperatorError `InvalidOption`: an option is unknown, or `cleanUp` is no policy.
 */
export function resolveOperatorChange(options: OperatorChangeOptions): ResolvedOperatorChange {
  const { cleanUp = 'orphan', former = [] } = options;
  refuseUnknownOptions<OperatorChangeOptions>('operator', options, { cleanUp, former });
  checkCleanUp(cleanUp);
  return { cleanUp, former };
}

/** @throws OperatorError `InvalidOption`: it can't be part of the group of its views. */
export function checkOperatorName(name: string): void {
  const problem = dns1123SubdomainProblem(name);
  if (problem === undefined) return;
  throw new OperatorError('InvalidOption', `operator ${JSON.stringify(name)}: its name ${problem}`);
}
