import type { Condition } from '../../object/conditions.js';
import type { SpecProblem } from '../spec-problem.js';

/** Something that went wrong in a controller. */
export interface ReportedError {
  readonly operator: string;
  readonly controller: string;
  /** Where: a stage (`@project`), `source <name>`, or `target`. */
  readonly stage: string;
  /** The object that it was about: `namespace/name`. Absent: it was about none. */
  readonly subject?: string | undefined;
  /** One text that names all of the above; of a Secret no data. Trimmed in the middle above 1,000 characters. */
  readonly message: string;
  /** When, in milliseconds since 1970. */
  readonly atMs: number;
  readonly error: Error;
}

/** How a declarative controller is doing. */
export interface DeclarativeControllerStatus {
  readonly name: string;
  /** What its specification lacks; then it does not run. */
  readonly problems: readonly SpecProblem[];
  /**
   * `Ready`: True (`Ready`), False (`NotReady`: `problems`) or Unknown (`ReconciliationFailed`: the
   * last writes or documents failed; cleared by success). `Throttled`, once it was slowed down: True
   * (`Feedback`: its own writes make it write again) or False.
   */
  readonly conditions: readonly Condition[];
  /** The last ten errors, the newest last; of each object the last one at a place. */
  readonly lastErrors: readonly string[];
}

/** What a declarative controller tells its operator. */
export interface DeclarativeControllerListener {
  /** Something went wrong. It must not throw. */
  readonly onError: (error: ReportedError) => void;
  /**
   * `status()` says something else now: a condition flipped, or an error came. Called after the
   * change, also for success that clears an error; it must not throw. @defaultValue nobody listens
   */
  readonly onStatus?: (() => void) | undefined;
}
