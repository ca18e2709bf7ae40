import { findCondition, setCondition } from '../../object/conditions.js';
import type { Condition, ConditionUpdate } from '../../object/conditions.js';
import type { Clock } from '../../system/clock.js';
import type { OperatorControllerStatus, OperatorStatus } from '../crd/operator-resource.js';
import { writtenTarget } from '../crd/status-record.js';
import { trimMiddle } from '../trim-middle.js';
import type { OperatorController } from './operator-controller.js';
import type { OperatorPlan } from './operator-plan.js';

/** What {@link operatorStatus} reports on. */
export interface StatusSubject {
  readonly plan: OperatorPlan;
  readonly controllers: readonly OperatorController[];
  /** Of the object that the specification is from; absent: it is from none. */
  readonly generation: number | undefined;
  /** The last report's, so that `lastTransitionTime` moves only when a status flips. */
  readonly conditions: readonly Condition[];
  readonly clock: Clock;
}

/** How an operator is doing, in the form of the status of an `Operator` object. */
export function operatorStatus(subject: StatusSubject): OperatorStatus & {
  readonly conditions: readonly Condition[];
} {
  const { plan, generation, clock } = subject;
  const controllers = subject.controllers.map((one) => controllerStatus(one, subject));
  const ready = wholeReady(controllers, plan.problems.map(plan.describe));
  const conditions = setCondition(subject.conditions, { ...ready, ...observed(generation) }, clock);
  return {
    ...observed(generation),
    // A copy: it is the caller's.
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
    return {
      name,
      conditions,
      lastErrors: [...status.lastErrors],
      target: writtenTarget(spec.target),
    };
  }
  const lines = problems.map(plan.describe);
  const notReady: ConditionUpdate = {
    ...{ type: 'Ready', status: 'False', reason: 'NotReady', ...observed(generation) },
    message: trimMiddle(lines.join('\n'), longestMessage),
  };
  const conditions = [...setCondition(status.conditions, notReady, clock)];
  return {
    name,
    conditions,
    lastErrors: lines.slice(0, mostErrors).map((line) => trimMiddle(line)),
  };
}

/** Ready is what all are: False where one can't run, else Unknown where one fails. */
function wholeReady(
  controllers: readonly OperatorControllerStatus[],
  problems: readonly string[],
): ConditionUpdate {
  const type = 'Ready';
  const told = controllers.flatMap(({ name, conditions }) => {
    const ready = findCondition(conditions, type);
    return ready === undefined ? [] : [{ name, ...ready }];
  });
  const bad = told.filter(({ status }) => status === 'False');
  const unknown = told.filter(({ status }) => status !== 'True' && status !== 'False');
  const lines = (some: typeof told): string =>
    trimMiddle(some.map(({ name, message }) => `${name}: ${message}`).join('\n'), longestMessage);
  if (problems.length > 0) {
    const message = trimMiddle(problems.join('\n'), longestMessage);
    return { type, status: 'False', reason: 'NotReady', message };
  }
  if (bad.length > 0) return { type, status: 'False', reason: 'NotReady', message: lines(bad) };
  // Of one that only begins there is less to say.
  const first = unknown.find(({ reason }) => reason !== 'Starting') ?? unknown[0];
  if (first !== undefined) {
    return { type, status: 'Unknown', reason: first.reason, message: lines(unknown) };
  }
  return { type, status: 'True', reason: 'Ready' };
}

function observed(generation: number | undefined): { observedGeneration?: number } {
  return generation === undefined ? {} : { observedGeneration: generation };
}
