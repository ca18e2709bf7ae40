import type { LifecycleCondition } from '../lifecycle-status.js';

/** The status of each condition, by its type. */
export type ConditionValues = ReadonlyMap<string, LifecycleCondition['status']>;

/** What the conditions say, without reasons, messages and times. */
export function conditionValues(
  conditions: readonly LifecycleCondition[] | undefined,
): ConditionValues {
  return new Map(conditions?.map(({ type, status }) => [type, status]));
}

/** Whether a condition flipped, came or went; not whether its reason changed. */
export function conditionsChanged(before: ConditionValues, after: ConditionValues): boolean {
  if (before.size !== after.size) return true;
  return [...after].some(([type, status]) => before.get(type) !== status);
}
