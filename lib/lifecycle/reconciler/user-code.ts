import { Deadline } from '../../client/deadline.js';
import { OperatorError } from '../../system/operator-error.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import type { Pass } from './pass.js';

/**
 * Calls what the operator has given us: a callback, a hook, its list of objects. One that hangs must
 * not hold the worker: its signal is aborted in time, and nobody waits for it any more.
 * @param what - names it in messages.
 * @throws what it throws, as it is; OperatorError `Timeout`: it has not ended in time.
 */
export async function callUserCode<CR extends LifecycleObject, T>(
  pass: Pass<CR>,
  what: string,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const { clock, callbackTimeoutMs } = pass.settings;
  const deadline = new Deadline(pass.signal, clock, callbackTimeoutMs);
  try {
    return await deadline.until((async () => work(deadline.signal))());
  } catch (cause) {
    const error = deadline.expired ? timeout(what, callbackTimeoutMs, cause) : cause;
    pass.nameSource(error, what);
    throw error;
  } finally {
    deadline.release();
  }
}

function timeout(what: string, ms: number, cause: unknown): OperatorError {
  return new OperatorError('Timeout', `${what} did not end within ${ms / 1000} s`, { cause });
}
