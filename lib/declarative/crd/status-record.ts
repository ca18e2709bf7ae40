import { findCondition, deepEqual } from '../../object/index.js';
import type { Condition } from '../../object/index.js';
import type { Clock } from '../../system/index.js';
import { sameTarget } from '../operator/operator-plan.js';
import type { FormerController } from '../runtime/clean-up-target.js';
import type { TargetSpec } from '../spec/operator-spec.js';
import type { OperatorControllerStatus, OperatorStatus } from './operator-resource.js';

// The status records the targets before the controllers write. So a later process, which has no other record of a
// removed controller, can still delete its objects.

/** Returns the controllers whose targets a status records. */
export function formerControllers(status: OperatorStatus | undefined): readonly FormerController[] {
  return (status?.controllers ?? []).flatMap((one) => {
    const target = targetOf(one);
    return target === undefined ? [] : [{ name: one.name, target }];
  });
}

/** Returns entries for the controllers of `needed` that a status does not record. */
export function unrecorded(
  status: OperatorStatus | undefined,
  needed: readonly FormerController[],
): readonly OperatorControllerStatus[] {
  const known = formerControllers(status);
  return needed
    .filter(
      ({ name, target }) =>
        !known.some((one) => one.name === name && sameTarget(one.target, target)),
    )
    .map(({ name, target }) => ({ name, target: writtenTarget(target) }));
}

/**
 * Returns the entries of a new status, with recorded targets of the previous one: those of controllers that cannot
 * run now and, with `keepsFormer`, those of controllers that are no longer specified.
 */
export function withRecords(
  controllers: readonly OperatorControllerStatus[],
  {
    before,
    keepsFormer,
  }: { readonly before: OperatorStatus | undefined; readonly keepsFormer: boolean },
): OperatorControllerStatus[] {
  const old = before?.controllers ?? [];
  const entries = controllers.map((one) => {
    const target = one.target ?? old.find(({ name }) => name === one.name)?.target;
    return target === undefined ? one : { ...one, target };
  });
  if (!keepsFormer) return entries;
  return [...entries, ...unrecorded({ controllers: entries }, formerControllers(before))];
}

/** Returns a target as JSON, without undefined members. */
export function writtenTarget({
  apiGroup,
  version,
  kind,
  type,
}: TargetSpec): NonNullable<OperatorControllerStatus['target']> {
  return {
    ...(apiGroup !== undefined && { apiGroup }),
    ...(version !== undefined && { version }),
    ...{ kind, type },
  };
}

function targetOf({ target }: OperatorControllerStatus): TargetSpec | undefined {
  if (target === undefined) return undefined;
  return { ...target, type: target.type === 'Patcher' ? 'Patcher' : 'Updater' };
}

/**
 * Returns `next` with the unchanged parts of `live`, so that an unchanged status compares as equal. The parts
 * are times of conditions, the order of errors, and details that a new process does not have yet.
 */
export function continued(next: OperatorStatus, live: OperatorStatus | undefined): OperatorStatus {
  if (live === undefined) return next;
  return {
    ...next,
    ...continuedConditions(next, live),
    controllers: next.controllers.map((one) => {
      const before = live.controllers.find(({ name }) => name === one.name);
      return before === undefined ? one : continuedController(one, before);
    }),
  };
}

/** Whether all controllers of an operator are still starting. */
export function isStarting({ conditions }: OperatorStatus): boolean {
  return findCondition(conditions, 'Ready')?.reason === starting;
}

const starting = 'Starting';

function continuedController(
  next: OperatorControllerStatus,
  live: OperatorControllerStatus,
): OperatorControllerStatus {
  const { lastErrors = [] } = next;
  const { lastErrors: before = [] } = live;
  const [generation, generationBefore] = [next, live].map(
    ({ conditions }) => findCondition(conditions, 'Ready')?.observedGeneration,
  );
  const isNew = lastErrors.length === 0 && generation === generationBefore;
  const isSame = deepEqual(lastErrors.toSorted(), before.toSorted());
  return {
    ...next,
    ...continuedConditions(next, live),
    ...((isNew || isSame) && live.lastErrors !== undefined && { lastErrors: before }),
  };
}

interface WithConditions {
  readonly conditions?: readonly Condition[];
}

function continuedConditions(next: WithConditions, live: WithConditions): WithConditions {
  const { conditions } = next;
  if (conditions === undefined) return {};
  return {
    conditions: conditions.map((one) => {
      const before = findCondition(live.conditions, one.type);
      if (before === undefined) return one;
      const isKnown = before.observedGeneration === one.observedGeneration;
      // A new process begins with the reason `Starting`: keep the condition that the previous process wrote.
      if (one.reason === starting && isKnown) return before;
      if (before.status !== one.status) return one;
      return { ...one, lastTransitionTime: before.lastTransitionTime };
    }),
  };
}

/** Shortest interval between two statuses of an operator, in milliseconds. */
const paceMs = 1_000;

/** Limits the status writes of an operator with many errors. */
export class StatusPace {
  readonly #clock: Clock;
  /** Time of the last write, by the monotonic clock. */
  readonly #writtenMs = new Map<string, number>();
  /** Time of the first request, by the monotonic clock. */
  readonly #askedMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the delay of the next status; 0: no delay. */
  waitMs(name: string): number {
    return this.#left(this.#writtenMs.get(name));
  }

  /** Returns the delay of a status that may soon be obsolete. */
  calmMs(name: string): number {
    const askedMs = this.#askedMs.get(name) ?? this.#clock.monotonicMs();
    this.#askedMs.set(name, askedMs);
    return Math.max(this.#left(askedMs), this.waitMs(name));
  }

  written(name: string): void {
    this.#writtenMs.set(name, this.#clock.monotonicMs());
    this.#askedMs.delete(name);
  }

  /** Discards the state of a removed operator. */
  forget(name: string): void {
    this.#writtenMs.delete(name);
    this.#askedMs.delete(name);
  }

  #left(sinceMs: number | undefined): number {
    if (sinceMs === undefined) return 0;
    return Math.max(0, sinceMs + paceMs - this.#clock.monotonicMs());
  }
}
