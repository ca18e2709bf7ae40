import type { Logger, Resolved } from '../../system/index.js';
import { refuseUnknownOptions } from '../../system/index.js';
import type { SpecPath, SpecProblem } from '../spec-problem.js';
import type { ControllerSpec, ResourceSpec } from '../spec/operator-spec.js';
import type { DeclarativeManager } from '../views/declarative-manager.js';
import type { DeclarativeControllerListener } from './reported-errors.js';
import { defaultGrowthLimit } from './feedback-brake.js';
import type { GrowthLimit } from './feedback-brake.js';
import { viewGroupOf, isViewGroup } from '../spec/operator-spec.js';
import { anyKindOf } from '../views/view-writers.js';
import type { ViewWriter } from '../views/view-writers.js';

/** Options of `DeclarativeController`. */
export interface DeclarativeControllerOptions extends DeclarativeControllerListener {
  /** The name of the operator that the controller belongs to. */
  readonly operator: string;
  readonly spec: ControllerSpec;
  /** Path of `spec` in its file, for problems. @defaultValue [] */
  readonly specPath?: SpecPath | undefined;
  /** Problems that reading `spec` has found: a controller with problems does not run. @defaultValue [] */
  readonly problems?: readonly SpecProblem[] | undefined;
  /** The manager that runs the controller. The caller runs the manager, before or after `start`. */
  readonly manager: DeclarativeManager;
  /** @defaultValue the manager's */
  readonly logger?: Logger | undefined;
  /** Limit of objects made from the controller's own results. @defaultValue 10,000 objects, 64 MiB */
  readonly growth?: GrowthLimit | undefined;
}

/** {@link DeclarativeControllerOptions} with all defaults filled in. */
export type ResolvedDeclarativeControllerOptions = Resolved<DeclarativeControllerOptions>;

/** Fills in the defaults. @throws OperatorError `InvalidOption`: an option is unknown. */
export function resolveDeclarativeControllerOptions(
  options: DeclarativeControllerOptions,
): ResolvedDeclarativeControllerOptions {
  const { operator, spec, specPath = [], problems = [], manager } = options;
  const { onError, onStatus = () => undefined } = options;
  const { logger = manager.logger, growth = defaultGrowthLimit } = options;
  const resolved = {
    ...{ operator, spec, specPath, problems, manager, onError, onStatus },
    ...{ logger, growth },
  };
  refuseUnknownOptions<DeclarativeControllerOptions>('DeclarativeController', options, resolved);
  return resolved;
}

/** State of a controller, read by the controllers that depend on its views. */
export interface WriterState {
  readonly progress: () => ViewWriter['progress'];
  readonly trouble: () => string | undefined;
  readonly restart?: ViewWriter['restart'];
}

/** Describes a controller to the controllers that read the views it writes. */
export function asViewWriter(
  operator: string,
  { name, sources, target }: ControllerSpec,
  { progress, trouble, restart }: WriterState,
): ViewWriter {
  const group = viewGroupOf(operator);
  const watched = sources.filter(({ type }) => type === 'Watcher');
  const named = (resource: ResourceSpec): string => kindText(operator, resource);
  // Only views are lost when the process ends, so a controller waits only for the writers of the views that it reads.
  const isOfViews = ({ apiGroup = group }: ResourceSpec): boolean => isViewGroup(apiGroup);
  return {
    ...{ operator, name, sources: watched.filter(isOfViews).map(named) },
    target: target.kind === '' ? anyKindOf(target.apiGroup ?? group) : named(target),
    readsSecrets: watched.some(isSecretSpec),
    restart,
    get progress() {
      return progress();
    },
    get trouble() {
      return trouble();
    },
  };
}

/** Returns the kind of a source or target of an operator as `group/Kind`. */
export function kindText(
  operator: string,
  { apiGroup = viewGroupOf(operator), kind }: ResourceSpec,
): string {
  return `${apiGroup}/${kind}`;
}

/** Describes a controller that cannot run. Controllers that read its views wait. */
export function unableViewWriter(operator: string, spec: ControllerSpec): ViewWriter {
  const trouble = (): string => cannotRun;
  return asViewWriter(operator, spec, { progress: () => 'unable', trouble });
}

/** The reason why a controller with problems writes nothing. */
export const cannotRun = 'its specification is invalid';

/** Whether a source or target is a Secret. */
export function isSecretSpec({ apiGroup, kind }: ResourceSpec): boolean {
  return apiGroup === '' && kind === 'Secret';
}
