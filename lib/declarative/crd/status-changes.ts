import type { Condition } from '../../object/conditions.js';
import { findCondition } from '../../object/conditions.js';
import { deepEqual } from '../../object/deep-equal.js';
import type { OperatorControllerStatus, OperatorStatus } from './operator-resource.js';

/**
 * Returns `next` with the unchanged parts of `live`, so that an unchanged status compares as equal: times
 * of conditions, the order of errors, and details that a new process does not know yet.
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

/** Whether an operator only has starting controllers. */
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
      // A new process does not know the previous condition yet.
      if (one.reason === starting && isKnown) return before;
      if (before.status !== one.status) return one;
      return { ...one, lastTransitionTime: before.lastTransitionTime };
    }),
  };
}
