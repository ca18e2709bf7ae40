import { Deadline } from '../../client/deadline.js';
import { describeObject } from '../../object/describe-object.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { OperatorError } from '../../system/operator-error.js';
import type { CallbackState } from '../callbacks/callback.js';
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

/** What callbacks are told of: objects that are theirs to change. */
export interface ToldObjects {
  readonly desired?: UnstructuredObject | undefined;
  readonly current?: UnstructuredObject | undefined;
}

/** States after a write: the object does not show whether their callbacks were called. */
export type AfterState = 'POST_CREATE' | 'POST_UPDATE' | 'POST_DELETE';

/** A callback that failed after a write, which is not done again. */
interface Owed {
  readonly state: AfterState;
  readonly object: UnstructuredObject;
}

/**
 * The callbacks that are still owed, by the UIDs of configuration and object. In memory: a record on
 * the object would cost a second write for each, and a process that ends between write and callback
 * is rare.
 */
export class OwedCallbacks {
  readonly #byOwner = new Map<string, Map<string, Owed>>();

  /** The callbacks that a configuration's objects are owed. */
  of({ metadata: { uid = '' } }: LifecycleObject): ReadonlyMap<string, Owed> {
    return this.#byOwner.get(uid) ?? new Map<string, Owed>();
  }

  add({ metadata: { uid = '' } }: LifecycleObject, owed: Owed): void {
    const objects = this.#byOwner.get(uid) ?? new Map<string, Owed>();
    this.#byOwner.set(uid, objects.set(owed.object.metadata.uid ?? '', owed));
  }

  delete({ metadata: { uid = '' } }: LifecycleObject, object: UnstructuredObject): void {
    const objects = this.#byOwner.get(uid);
    objects?.delete(object.metadata.uid ?? '');
    if (objects?.size === 0) this.#byOwner.delete(uid);
  }

  /** Forgets all of a configuration that goes. */
  forget({ metadata: { uid = '' } }: LifecycleObject): void {
    this.#byOwner.delete(uid);
  }
}

/** Whether callbacks may look at, and change, `object`: they get copies of their own. */
export function hasCallbacks<CR extends LifecycleObject>(
  { settings }: Pass<CR>,
  object: UnstructuredObject,
): boolean {
  return settings.dispatcher.handles?.(object) ?? true;
}

/** Calls the callbacks of an object. @throws what one of them throws, as it is. */
export async function invokeCallbacks<CR extends LifecycleObject>(
  pass: Pass<CR>,
  state: CallbackState,
  { desired, current }: ToldObjects,
): Promise<void> {
  const object = desired ?? current;
  if (object === undefined || !hasCallbacks(pass, object)) return;
  const { settings, logger, live: client, cr } = pass;
  const { dispatcher, recorder, namespace } = settings;
  await callUserCode(pass, `callback ${state} of ${describeObject(object)}`, (signal) => {
    const told = { logger, client, recorder, namespace, cr, state, desired, current, signal };
    return dispatcher.invokeCallbacks(told);
  });
}

/**
 * Calls the callbacks of a state after a write, which can't fail the write: until they succeed, each
 * reconcile of this process calls them again.
 * @throws what one of them throws, as it is.
 */
export async function invokeAfter<CR extends LifecycleObject>(
  pass: Pass<CR>,
  state: AfterState,
  {
    desired,
    current,
  }: { readonly desired?: UnstructuredObject; readonly current: UnstructuredObject },
): Promise<void> {
  const { owedCallbacks } = pass.settings;
  if (!hasCallbacks(pass, current)) return;
  owedCallbacks.add(pass.cr, { state, object: current });
  await invokeCallbacks(pass, state, { desired, current: structuredClone(current) });
  owedCallbacks.delete(pass.cr, current);
}

/** The state that the callbacks of an object are owed since its last write; undefined: they are not. */
export function owedState<CR extends LifecycleObject>(
  { settings, cr }: Pass<CR>,
  { metadata }: UnstructuredObject,
): AfterState | undefined {
  return settings.owedCallbacks.of(cr).get(metadata.uid ?? '')?.state;
}

/** Calls the callbacks that objects which were deleted are owed. @throws what one of them throws. */
export async function retryAfterDeletion<CR extends LifecycleObject>(
  pass: Pass<CR>,
): Promise<void> {
  for (const { state, object } of pass.settings.owedCallbacks.of(pass.cr).values()) {
    if (state === 'POST_DELETE') await invokeAfter(pass, state, { current: object });
  }
}
