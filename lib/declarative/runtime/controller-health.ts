import { findCondition, setCondition } from '../../object/conditions.js';
import type { Condition, ConditionUpdate } from '../../object/conditions.js';
import type { Clock } from '../../system/clock.js';
import { trimMiddle } from '../trim-middle.js';

/** What a controller is about, as far as its condition is concerned. */
export interface HealthFacts {
  /** What its specification lacks, or why it can not be; undefined: nothing. */
  readonly refused: string | undefined;
  /** What is wrong right now, in words: the first thing. */
  readonly trouble: string | undefined;
  /** How many things are wrong. */
  readonly troubleCount: number;
  /** What it waits for that will not come by itself; undefined: for nothing such. */
  readonly held: string | undefined;
  /** What it waits for; undefined: for nothing. */
  readonly waiting: string | undefined;
  /** Why it is slowed down; undefined: it is not. */
  readonly throttled: string | undefined;
}

/** The conditions of a controller: `Ready`, and `Throttled` once it was slowed down. */
export class ControllerHealth {
  readonly #clock: Clock;
  #conditions: readonly Condition[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get conditions(): readonly Condition[] {
    return this.#conditions;
  }

  /** @returns whether the condition is another one than before */
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
