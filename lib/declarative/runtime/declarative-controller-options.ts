import type { Clock } from '../../system/clock.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import type { Logger } from '../../system/logger.js';
import type { Random } from '../../system/random.js';
import type { SpecPath } from '../spec-problem.js';
import type { ControllerSpec } from '../spec/operator-spec.js';
import type { DeclarativeManager } from '../views/declarative-manager.js';
import { isSecretSpec } from './as-view-writer.js';
import type { DeclarativeControllerListener } from './controller-status.js';
import { defaultGrowthLimit } from './feedback-brake.js';
import type { GrowthLimit } from './feedback-brake.js';

/** Options of `DeclarativeController`. */
export interface DeclarativeControllerOptions extends DeclarativeControllerListener {
  /** The name of the operator that the controller belongs to. */
  readonly operator: string;
  readonly spec: ControllerSpec;
  /** Path of `spec` in its file, for problems. @defaultValue [] */
  readonly specPath?: SpecPath | undefined;
  /** The manager that runs the controller. The caller runs the manager, before or after. */
  readonly manager: DeclarativeManager;
  /** @defaultValue the manager's */
  readonly clock?: Clock | undefined;
  /** @defaultValue the manager's */
  readonly random?: Random | undefined;
  /** @defaultValue the manager's */
  readonly logger?: Logger | undefined;
  /**
   * Whether errors may show values of documents. Values stay hidden wherever they may include data of
   * Secrets: the operator reads Secrets or other operators' views, other operators write its views, or the
   * target is a Secret. @defaultValue true
   */
  readonly showValues?: boolean | undefined;
  /** Limit of what the controller makes of its own results. @defaultValue 10,000 objects, 64 MiB */
  readonly growth?: GrowthLimit | undefined;
}

/** {@link DeclarativeControllerOptions} with all defaults filled in. */
export interface ResolvedDeclarativeControllerOptions {
  readonly operator: string;
  readonly spec: ControllerSpec;
  readonly specPath: SpecPath;
  readonly manager: DeclarativeManager;
  readonly onError: DeclarativeControllerListener['onError'];
  readonly onStatus: () => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly showValues: boolean;
  readonly growth: GrowthLimit;
}

/**
 * Fills in the defaults.
 * @throws OperatorError `InvalidOption`: an option is unknown.
 */
export function resolveDeclarativeControllerOptions(
  options: DeclarativeControllerOptions,
): ResolvedDeclarativeControllerOptions {
  const { operator, spec, specPath = [], manager, onError, onStatus = () => undefined } = options;
  const { clock = manager.clock, random = manager.random, logger = manager.logger } = options;
  const { showValues = true, growth = defaultGrowthLimit } = options;
  const shown = showValues && ![...spec.sources, spec.target].some(isSecretSpec);
  const resolved = {
    ...{ operator, spec, specPath, manager, onError, onStatus },
    ...{ clock, random, logger, showValues: shown, growth },
  };
  refuseUnknownOptions<DeclarativeControllerOptions>('DeclarativeController', options, resolved);
  return resolved;
}
