import { OperatorError } from '../../system/operator-error.js';
import type { SpecProblem } from '../spec-problem.js';
import type { ControllerSpec } from '../spec/operator-spec.js';
import type { DeclarativeControllerStatus, ReportedError } from './controller-status.js';
import { resolveDeclarativeControllerOptions } from './declarative-controller-options.js';
import type {
  DeclarativeControllerOptions,
  ResolvedDeclarativeControllerOptions,
} from './declarative-controller-options.js';

/** Options of {@link DeclarativeController.stop}. */
export interface StopControllerOptions {
  /**
   * `delete`: what it wrote goes, what earlier processes wrote as it included (so also of one that was
   * never started, or that was stopped with `orphan` before); `orphan`: it stays. A `delete` that threw
   * can be tried again. @defaultValue 'orphan'
   */
  readonly cleanUp?: 'orphan' | 'delete' | undefined;
}

/** A controller of a declarative operator: a pipeline that follows its sources and writes its target. */
export class DeclarativeController {
  /** What its specification lacks: with any of them it does not run. */
  readonly problems: readonly SpecProblem[] = [];
  /** What works, but not well. */
  readonly warnings: readonly SpecProblem[] = [];
  readonly #options: ResolvedDeclarativeControllerOptions;

  /** Compiles; what is wrong with the specification is in `problems`, not thrown. */
  constructor(options: DeclarativeControllerOptions) {
    this.#options = resolveDeclarativeControllerOptions(options);
  }

  /** Unique in its operator. */
  get name(): string {
    return this.#options.spec.name;
  }

  get spec(): ControllerSpec {
    return this.#options.spec;
  }

  /**
   * Begins, once: it is added to the manager as soon as its kinds are known. Resolves when that is so,
   * or has to wait for a kind that is not served yet: it is looked for again and again. With
   * `problems` it does nothing.
   * @throws OperatorError `AlreadyStarted`: it was started before.
   */
  start(): Promise<void> {
    return Promise.reject(new OperatorError('Stopped', `${this.name}: not there yet`));
  }

  /** Ends it. Resolves when nothing of it goes on. */
  stop(_options: StopControllerOptions = {}): Promise<void> {
    return Promise.resolve();
  }

  /** How it is doing. */
  status(): DeclarativeControllerStatus {
    return { name: this.name, problems: this.problems, conditions: [], lastErrors: [] };
  }

  /** The last ten errors, the newest last. */
  reportErrors(): readonly ReportedError[] {
    return [];
  }

  /**
   * Resolves when its first full pass is written: what existed when it started has been dealt with.
   * @throws the signal's reason, as soon as it is aborted.
   */
  whenSynced(_signal?: AbortSignal): Promise<void> {
    return Promise.resolve();
  }
}
