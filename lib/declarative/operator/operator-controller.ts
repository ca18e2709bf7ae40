import { setCondition } from '../../object/conditions.js';
import { unableViewWriter } from '../runtime/controller-options.js';
import type { DeclarativeControllerStatus, ReportedError } from '../runtime/controller-status.js';
import type { ControllerSpec } from '../spec/operator-spec.js';
import { InvalidSpecError } from '../spec/invalid-spec-error.js';
import type { SpecProblem } from '../spec-problem.js';
import type { DeclarativeManager } from '../views/index.js';
import type { PlannedController } from './operator-plan.js';

/** A controller of an operator: a `DeclarativeController`, or one that can't run. */
export interface OperatorController {
  readonly name: string;
  readonly spec: ControllerSpec;
  /** What its specification lacks: with any of them it does not run. */
  readonly problems: readonly SpecProblem[];
  /** What works, but not well. */
  readonly warnings: readonly SpecProblem[];
  /** How it is doing. */
  status(): DeclarativeControllerStatus;
  /** The last ten errors, the newest last. */
  reportErrors(): readonly ReportedError[];
  /**
   * Resolves when its first full pass is written.
   * @throws InvalidSpecError it can't run.
   */
  whenSynced(signal?: AbortSignal): Promise<void>;
}

/** What an {@link InvalidController} is part of. */
export interface InvalidControllerParts {
  readonly operator: string;
  readonly manager: Pick<DeclarativeManager, 'clock' | 'viewWriters'>;
}

/**
 * A controller that can't run, since the form of its specification is wrong. Who reads the views that it
 * is to fill waits for it.
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

  /** Nobody waits for it any more. */
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
