import { findCondition, setCondition } from '../../object/index.js';
import type { Condition, ConditionUpdate } from '../../object/index.js';
import type { Clock } from '../../system/index.js';
import type { OperatorControllerStatus, OperatorStatus } from '../crd/operator-resource.js';
import { writtenTarget } from '../crd/status-record.js';
import { trimMiddle } from '../expression/operands.js';
import type { OperatorController } from './controller-set.js';
import type { OperatorPlan } from './operator-plan.js';

/** The input of {@link operatorStatus}. */
export interface StatusSubject {
  readonly plan: OperatorPlan;
  readonly controllers: readonly OperatorController[];
  /**
   * Generation of the object with the specification; undefined: the specification is not from an object.
   */
  readonly generation: number | undefined;
  /** Conditions of the last report: `lastTransitionTime` changes only with the status. */
  readonly conditions: readonly Condition[];
  readonly clock: Clock;
}

/** Returns the status of an operator, in the form of the status of an `Operator` object. */
export function operatorStatus(subject: StatusSubject): OperatorStatus & {
  readonly conditions: readonly Condition[];
} {
  const { plan, generation, clock } = subject;
  const controllers = subject.controllers.map((one) => controllerStatus(one, subject));
  const ready = wholeReady(controllers, plan.problems.map(plan.describe));
  const conditions = setCondition(subject.conditions, { ...ready, ...observed(generation) }, clock);
  return {
    ...observed(generation),
    // A copy, since the caller may change it.
    conditions: conditions.map((condition) => ({ ...condition })),
    controllers,
  };
}

const longestMessage = 4_000;
const mostErrors = 10;

function controllerStatus(
  controller: OperatorController,
  { plan, generation, clock }: StatusSubject,
): OperatorControllerStatus {
  const { name, problems, spec } = controller;
  const status = controller.status();
  if (problems.length === 0) {
    const conditions = status.conditions.map((one) => ({ ...one, ...observed(generation) }));
    const target = writtenTarget(spec.target);
    return { name, conditions, lastErrors: [...status.lastErrors], target };
  }
  const lines = problems.map(plan.describe);
  const notReady: ConditionUpdate = {
    ...{ type: 'Ready', status: 'False', reason: 'NotReady', ...observed(generation) },
    message: trimMiddle(lines.join('\n'), longestMessage),
  };
  const conditions = [...setCondition(status.conditions, notReady, clock)];
  const lastErrors = lines.slice(0, mostErrors).map((line) => trimMiddle(line));
  return { name, conditions, lastErrors };
}

/**
 * Returns the Ready condition of the operator: False if a controller cannot run, else Unknown if one
 * fails.
 */
function wholeReady(
  controllers: readonly OperatorControllerStatus[],
  problems: readonly string[],
): ConditionUpdate {
  const type = 'Ready';
  const reported = controllers.flatMap(({ name, conditions }) => {
    const ready = findCondition(conditions, type);
    return ready === undefined ? [] : [{ name, ...ready }];
  });
  const bad = reported.filter(({ status }) => status === 'False');
  const unknown = reported.filter(({ status }) => status !== 'True' && status !== 'False');
  const lines = (some: typeof reported): string =>
    trimMiddle(some.map(({ name, message }) => `${name}: ${message}`).join('\n'), longestMessage);
  if (problems.length > 0) {
    const message = trimMiddle(problems.join('\n'), longestMessage);
    return { type, status: 'False', reason: 'NotReady', message };
  }
  if (bad.length > 0) return { type, status: 'False', reason: 'NotReady', message: lines(bad) };
  // Prefer the reason of a failing controller to that of a starting one.
  const first = unknown.find(({ reason }) => reason !== 'Starting') ?? unknown[0];
  if (first !== undefined) {
    return { type, status: 'Unknown', reason: first.reason, message: lines(unknown) };
  }
  return { type, status: 'True', reason: 'Ready' };
}

function observed(generation: number | undefined): { observedGeneration?: number } {
  return generation === undefined ? {} : { observedGeneration: generation };
}
