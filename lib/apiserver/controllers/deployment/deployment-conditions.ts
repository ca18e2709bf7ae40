import type { Deployment } from '../../../object/kinds.js';
import { timestamp } from '../timestamp.js';

/** `status` of a Deployment. */
export type DeploymentStatus = NonNullable<Deployment['status']>;
/** One of its `conditions`. */
export type DeploymentCondition = NonNullable<DeploymentStatus['conditions']>[number];

/** What a condition says; the times are added when it is set. */
export interface ConditionStatement {
  readonly type: 'Available' | 'Progressing' | 'ReplicaFailure';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** The condition of `type` among `conditions`. */
export function conditionOf(
  conditions: readonly DeploymentCondition[],
  type: ConditionStatement['type'],
): DeploymentCondition | undefined {
  return conditions.find((condition) => condition.type === type);
}

/** `conditions` without the one of `type`. */
export function withoutCondition(
  conditions: readonly DeploymentCondition[],
  type: ConditionStatement['type'],
): DeploymentCondition[] {
  return conditions.filter((condition) => condition.type !== type);
}

/**
 * `conditions` with `statement` at the end. Nothing changes while status and reason stay; the time
 * of the transition stays while the status does.
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

/** As {@link withCondition}, with a new time of update also when nothing else changed. */
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
