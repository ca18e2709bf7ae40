import { findCondition } from '../../object/conditions.js';
import type { Condition, ConditionUpdate } from '../../object/conditions.js';
import { TerminalError } from '../../controller/terminal-error.js';
import { isOperatorError } from '../../system/operator-error.js';
import { messageOf } from '../message-of.js';

/** The type of the condition of an object that several sets handle, and the reason of the event. */
export const overlapCondition = 'ResourceSetsOverlap';

/** The condition that tells of an overlap, or undefined where one says so already. */
export function overlapToTell(
  framework: string,
  conditions: readonly Condition[],
  sets: readonly { readonly name: string }[],
): ConditionUpdate | undefined {
  const names = sets.map(({ name }) => name).join(', ');
  const message = `${framework}: several resource sets handle it: ${names}; nothing is reconciled`;
  const told = findCondition(conditions, overlapCondition);
  if (told?.status === 'True') {
    // That of another framework is no reason to write it in turns.
    if (told.message === message || !isOf(framework, told)) return undefined;
  }
  return { type: overlapCondition, status: 'True', reason: 'SeveralResourceSets', message };
}

/** The condition that tells that an overlap is over, or undefined where this framework told of none. */
export function overlapEndToTell(
  framework: string,
  conditions: readonly Condition[],
): ConditionUpdate | undefined {
  const told = findCondition(conditions, overlapCondition);
  if (told?.status !== 'True' || !isOf(framework, told)) return undefined;
  const message = `${framework}: at most one resource set handles it`;
  return { type: overlapCondition, status: 'False', reason: 'NoOverlap', message };
}

/** An overlap is not tried again: what handles an object depends on the object alone. */
export function overlapError(cause: unknown): TerminalError {
  return new TerminalError(messageOf(cause), { cause });
}

/** Whether `error` is one of {@link overlapError}. */
export function isOverlapError(error: unknown): boolean {
  return isOperatorError(error, 'Terminal') && isOperatorError(error.cause, 'ExecutionFailed');
}

function isOf(framework: string, { message }: Condition): boolean {
  return message.startsWith(`${framework}: `);
}
