import type { Deployment } from '../../../object/kinds.js';
import { timestamp } from '../timestamp.js';

/** `status` of a Deployment. */
export type DeploymentStatus = NonNullable<Deployment['status']>;
/** One of `status.conditions` of a Deployment. */
export type DeploymentCondition = NonNullable<DeploymentStatus['conditions']>[number];

/** A condition without its times, which are added when it is set. */
export interface ConditionStatement {
  readonly type: 'Available' | 'Progressing' | 'ReplicaFailure';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** Returns the condition of `type`. */
export function conditionOf(
  conditions: readonly DeploymentCondition[],
  type: ConditionStatement['type'],
): DeploymentCondition | undefined {
  return conditions.find((condition) => condition.type === type);
}

/** Returns `conditions` without the one of `type`. */
export function withoutCondition(
  conditions: readonly DeploymentCondition[],
  type: ConditionStatement['type'],
): DeploymentCondition[] {
  return conditions.filter((condition) => condition.type !== type);
}

/**
 * Returns `conditions` with `statement` at the end. A condition with the same status and reason stays
 * unchanged. A condition with the same status keeps its transition time.
 */
export function withCondition(
  conditions: readonly DeploymentCondition[],
  statement: ConditionStatement,
  nowMs: number,
): DeploymentCondition[] {
  const current = conditionOf(conditions, statement.type);
  const same = current?.status === statement.status && current.reason === statement.reason;
  return same ? [...conditions] : renewedCondition(conditions, statement, nowMs);
}

/** Like {@link withCondition}, but always sets a new update time. */
export function renewedCondition(
  conditions: readonly DeploymentCondition[],
  statement: ConditionStatement,
  nowMs: number,
): DeploymentCondition[] {
  const current = conditionOf(conditions, statement.type);
  const now = timestamp(nowMs);
  const sameStatus = current !== undefined && current.status === statement.status;
  const lastTransitionTime = sameStatus ? (current.lastTransitionTime ?? now) : now;
  const condition = { ...statement, lastUpdateTime: now, lastTransitionTime };
  return [...withoutCondition(conditions, statement.type), condition];
}
