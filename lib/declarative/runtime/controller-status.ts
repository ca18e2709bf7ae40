import type { Condition, ConditionUpdate } from '../../object/conditions.js';
import type { SpecProblem } from '../spec-problem.js';
import { findCondition, setCondition } from '../../object/conditions.js';
import type { Clock } from '../../system/clock.js';
import { trimMiddle } from '../expression/operands.js';

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

/** The facts that determine the conditions of a controller. */
export interface HealthFacts {
  /** Why the controller cannot run; undefined if it can. */
  readonly refused: string | undefined;
  /** Text of the first current problem. */
  readonly trouble: string | undefined;
  /** Number of current problems. */
  readonly troubleCount: number;
  /** Condition that blocks the controller and will not resolve by itself; undefined if not blocked. */
  readonly held: string | undefined;
  /** Condition that the controller waits for; undefined if it does not wait. */
  readonly waiting: string | undefined;
  /** Why the controller is throttled; undefined if it is not. */
  readonly throttled: string | undefined;
}

/** The conditions of a controller: `Ready`, and `Throttled` once it has been throttled. */
export class ControllerHealth {
  readonly #clock: Clock;
  #conditions: readonly Condition[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get conditions(): readonly Condition[] {
    return this.#conditions;
  }

  /** @returns whether a condition has changed */
  update(facts: HealthFacts): boolean {
    const before = this.#conditions;
    this.#conditions = setCondition(before, conditionOf(facts), this.#clock);
    const throttled = throttledCondition(facts, this.#conditions);
    if (throttled !== undefined) {
      this.#conditions = setCondition(this.#conditions, throttled, this.#clock);
    }
    return this.#conditions !== before;
  }
}

function throttledCondition(
  { throttled }: HealthFacts,
  conditions: readonly Condition[],
): ConditionUpdate | undefined {
  const type = 'Throttled';
  if (throttled !== undefined) {
    return { type, status: 'True', reason: 'Feedback', message: trimMiddle(throttled) };
  }
  if (findCondition(conditions, type) === undefined) return undefined;
  return { type, status: 'False', reason: 'NotThrottled' };
}

function conditionOf({ refused, held, waiting, ...wrong }: HealthFacts): ConditionUpdate {
  const type = 'Ready';
  if (refused !== undefined) {
    return { type, status: 'False', reason: 'NotReady', message: trimMiddle(refused) };
  }
  const { trouble, troubleCount } = wrong;
  if (trouble !== undefined) {
    const others = troubleCount <= 1 ? '' : ` (and ${troubleCount - 1} more)`;
    const message = trimMiddle(trouble) + others;
    return { type, status: 'Unknown', reason: 'ReconciliationFailed', message };
  }
  if (held !== undefined) {
    return { type, status: 'Unknown', reason: 'Waiting', message: trimMiddle(held) };
  }
  if (waiting !== undefined) {
    return { type, status: 'Unknown', reason: 'Starting', message: waiting };
  }
  return { type, status: 'True', reason: 'Ready', message: 'it follows its sources' };
}
