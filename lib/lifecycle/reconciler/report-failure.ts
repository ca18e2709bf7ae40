import { failureKindOf } from '../../controller/failure.js';
import { isApiError, isTooManyRequests } from '../../object/api-error.js';
import { isOperatorError } from '../../system/operator-error.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { failureText } from './failure-text.js';
import { partsOf } from './joined-errors.js';
import type { Pass } from './pass.js';

/**
 * Has the conditions say why a pass has failed, and tells of it where nobody has. What is tried again
 * at once, as after a conflict, what ends an operator, and a server that can't be reached just now, is
 * no news.
 */
export function reportFailure<CR extends LifecycleObject>(pass: Pass<CR>, error: unknown): void {
  const kind = failureKindOf(error);
  if (pass.signal.aborted || kind === 'conflict' || kind === 'waiting') return;
  const parts = partsOf(error);
  if (parts.every(isOfTheMoment)) return;
  const before = pass.complaint;
  const texts = parts.map((part) => textOf(pass, part));
  const message = [...(before === undefined ? [] : [before.message]), ...texts].join('; ');
  const trouble = { ...before, reason: before?.reason ?? pass.failureReason, message };
  if (parts.every((part) => pass.toldOf(part) !== undefined)) pass.explain(trouble);
  else pass.complain(trouble);
}

/** Says nothing of the system: a cluster-wide owner is not to be told that it is degraded. */
export function isOfTheMoment(error: unknown): boolean {
  if (isOperatorError(error, 'ConnectionFailed') || isTooManyRequests(error)) return true;
  return isApiError(error) && (error.status === 503 || error.status === 504);
}

function textOf<CR extends LifecycleObject>(pass: Pass<CR>, error: unknown): string {
  const source = pass.sourceOf(error);
  const text = failureText(error);
  return pass.toldOf(error) ?? (source === undefined ? text : `${source}: ${text}`);
}
