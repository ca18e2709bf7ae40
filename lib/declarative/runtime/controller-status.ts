import type { Condition } from '../../object/conditions.js';
import type { SpecProblem } from '../spec-problem.js';

/** An error of a controller. */
export interface ReportedError {
  readonly operator: string;
  readonly controller: string;
  /** The failed part: a stage (`@project`), `source <name>`, or `target`. */
  readonly stage: string;
  /** The object concerned, `namespace/name`. Absent if the error concerns no object. */
  readonly subject?: string | undefined;
  /**
   * One text with all of the above, without data of Secrets. Trimmed in the middle above 1,000 characters.
   */
  readonly message: string;
  /** Time of the error, in milliseconds since 1970. */
  readonly atMs: number;
  readonly error: Error;
}

/** Status of a declarative controller. */
export interface DeclarativeControllerStatus {
  readonly name: string;
  /** Problems of the specification. A controller with problems does not run. */
  readonly problems: readonly SpecProblem[];
  /**
   * `Ready`: True (`Ready`), False (`NotReady`: `problems`) or Unknown (`ReconciliationFailed`: the last
   * writes or documents failed; cleared by success). `Throttled`, once it was throttled: True (`Feedback`:
   * its own writes cause further writes) or False.
   */
  readonly conditions: readonly Condition[];
  /** The last ten errors, newest last. Only the last error of an object at each stage is kept. */
  readonly lastErrors: readonly string[];
}

/** Callbacks of a declarative controller. */
export interface DeclarativeControllerListener {
  /** Called on each error. Must not throw. */
  readonly onError: (error: ReportedError) => void;
  /**
   * Called after `status()` has changed: a condition changed, or an error occurred or was cleared. Must not
   * throw. @defaultValue no callback
   */
  readonly onStatus?: (() => void) | undefined;
}
