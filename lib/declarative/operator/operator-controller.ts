import { setCondition } from '../../object/conditions.js';
import { unableViewWriter } from '../runtime/controller-options.js';
import type { DeclarativeControllerStatus, ReportedError } from '../runtime/controller-status.js';
import type { ControllerSpec } from '../spec/operator-spec.js';
import { InvalidSpecError } from '../spec/invalid-spec-error.js';
import type { SpecProblem } from '../spec-problem.js';
import type { DeclarativeManager } from '../views/index.js';
import type { PlannedController } from './operator-plan.js';

/** A controller of an operator: a `DeclarativeController`, or one that cannot run. */
export interface OperatorController {
  readonly name: string;
  readonly spec: ControllerSpec;
  /** Problems of the specification; a controller with problems does not run. */
  readonly problems: readonly SpecProblem[];
  /** Problems that do not keep the controller from running. */
  readonly warnings: readonly SpecProblem[];
  /** Returns the current status. */
  status(): DeclarativeControllerStatus;
  /** Returns the last ten errors, newest last. */
  reportErrors(): readonly ReportedError[];
  /**
   * Resolves when the first full output is written.
   * @throws InvalidSpecError the controller cannot run.
   */
  whenSynced(signal?: AbortSignal): Promise<void>;
}

/** The dependencies of an {@link InvalidController}. */
export interface InvalidControllerParts {
  readonly operator: string;
  readonly manager: Pick<DeclarativeManager, 'clock' | 'viewWriters'>;
}

/**
 * A controller that cannot run because its specification is malformed. Controllers that read the views of
 * its target wait for it.
 */
export class InvalidController implements OperatorController {
  readonly name: string;
  readonly spec: ControllerSpec;
  readonly problems: readonly SpecProblem[];
  readonly warnings: readonly SpecProblem[] = [];
  readonly #status: DeclarativeControllerStatus;

  readonly #leave: () => void;

  constructor({ name, spec, problems }: PlannedController, parts: InvalidControllerParts) {
    const { operator, manager } = parts;
    this.name = name;
    this.spec = spec;
    this.problems = problems;
    const ready = { type: 'Ready', status: 'False', reason: 'NotReady' } as const;
    const conditions = setCondition([], ready, manager.clock);
    this.#status = { name, problems, conditions, lastErrors: [] };
    this.#leave = manager.viewWriters.add(unableViewWriter(operator, spec));
  }

  /** Releases the controllers that wait for its views. */
  stop(): Promise<void> {
    this.#leave();
    return Promise.resolve();
  }

  status(): DeclarativeControllerStatus {
    return this.#status;
  }

  reportErrors(): readonly ReportedError[] {
    return [];
  }

  whenSynced(): Promise<void> {
    return Promise.reject(new InvalidSpecError(this.name, this.problems));
  }
}
