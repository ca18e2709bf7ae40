import type { Manager } from '../../manager/manager.js';
import type { ResourceType } from '../../object/resource-type.js';
import { systemClock } from '../../system/clock.js';
import type { Clock } from '../../system/clock.js';
import { silentLogger } from '../../system/logger.js';
import type { Logger } from '../../system/logger.js';
import { systemRandom } from '../../system/random.js';
import type { Random } from '../../system/random.js';
import type { SpecPath } from '../spec-problem.js';
import type { ControllerSpec } from '../spec/operator-spec.js';
import type { DeclarativeControllerListener } from './controller-status.js';

/** The manager of a declarative controller: a `DeclarativeManager`, or another that has views. */
export type ManagerWithViews = Manager & {
  readonly views: {
    /** The kind of a view, made where there is none yet. */
    ensure(operator: string, kind: string): Promise<ResourceType>;
  };
};

/** Options of `DeclarativeController`. */
export interface DeclarativeControllerOptions extends DeclarativeControllerListener {
  /** The name of the operator that it belongs to. */
  readonly operator: string;
  readonly spec: ControllerSpec;
  /** Where `spec` stands in its file, for problems. @defaultValue [] */
  readonly specPath?: SpecPath | undefined;
  /** Runs it; the caller runs the manager, before or after. */
  readonly manager: ManagerWithViews;
  /** @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /** @defaultValue the machine's */
  readonly random?: Random | undefined;
  /** @defaultValue drops everything */
  readonly logger?: Logger | undefined;
}

/** {@link DeclarativeControllerOptions} with nothing left open. */
export interface ResolvedDeclarativeControllerOptions {
  readonly operator: string;
  readonly spec: ControllerSpec;
  readonly specPath: SpecPath;
  readonly manager: ManagerWithViews;
  readonly onError: DeclarativeControllerListener['onError'];
  readonly onStatus: () => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Fills in the defaults. */
export function resolveDeclarativeControllerOptions(
  options: DeclarativeControllerOptions,
): ResolvedDeclarativeControllerOptions {
  const { operator, spec, specPath = [], manager, onError, onStatus = () => undefined } = options;
  const { clock = systemClock, random = systemRandom, logger = silentLogger } = options;
  return { operator, spec, specPath, manager, onError, onStatus, clock, random, logger };
}
