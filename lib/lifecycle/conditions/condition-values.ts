import type { LifecycleCondition } from '../lifecycle-status.js';

/** The status of each condition, by its type. */
export type ConditionValues = ReadonlyMap<string, LifecycleCondition['status']>;

/** Returns the status of each condition, without reasons, messages and times. */
export function conditionValues(
  conditions: readonly LifecycleCondition[] | undefined,
): ConditionValues {
  return new Map(conditions?.map(({ type, status }) => [type, status]));
}

/** Whether a condition flipped, was added or was removed. Ignores reasons. */
export function conditionsChanged(before: ConditionValues, after: ConditionValues): boolean {
  if (before.size !== after.size) return true;
  return [...after].some(([type, status]) => before.get(type) !== status);
}
