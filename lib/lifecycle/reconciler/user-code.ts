import { Deadline } from '../../client/index.js';
import { describeObject } from '../../object/index.js';
import type { UnstructuredObject } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import type { CallbackState } from '../callbacks.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import type { ErrorSource, Pass } from './pass.js';

/**
 * Calls the operator's code: a callback, a hook, or its list of objects. Code that hangs must not block the worker: on
 * time-out, its signal is aborted and the reconcile fails without waiting for it.
 * @param source - the name of the code in messages, and the objects that the code gets.
 * @throws the error of the code, unchanged; OperatorError `Timeout` on time-out.
 */
export async function callUserCode<T>(
  pass: Pass,
  source: ErrorSource,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const { clock, callbackTimeoutMs } = pass.settings;
  const deadline = new Deadline(pass.signal, clock, callbackTimeoutMs);
  try {
    return await deadline.until((async () => work(deadline.signal))());
  } catch (cause) {
    const error = deadline.expired ? timeout(source.what, callbackTimeoutMs, cause) : cause;
    pass.nameSource(error, source);
    throw error;
  } finally {
    deadline.release();
  }
}

function timeout(what: string, ms: number, cause: unknown): OperatorError {
  return new OperatorError('Timeout', `${what} did not end within ${ms / 1000} s`, { cause });
}

/** The objects that callbacks get and may modify. */
export interface CallbackObjects {
  readonly desired?: UnstructuredObject | undefined;
  readonly current?: UnstructuredObject | undefined;
}

/**
 * The callback states after a write. A live object does not show whether the callbacks of these states were called.
 */
export type AfterState = 'POST_CREATE' | 'POST_UPDATE' | 'POST_DELETE';

/** A callback that failed after the write of its object. It is called again, without the write. */
interface Owed {
  readonly state: AfterState;
  readonly object: UnstructuredObject;
}

/**
 * The pending callbacks, by the UIDs of configuration and object. Kept in memory: a record on the object
 * would need a second write, and a process rarely ends between a write and its callback.
 */
export class OwedCallbacks {
  readonly #byOwner = new Map<string, Map<string, Owed>>();

  /** Returns the pending callbacks of a configuration's objects. */
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

  /** Removes all entries of a deleted configuration. */
  forget({ metadata: { uid = '' } }: LifecycleObject): void {
    this.#byOwner.delete(uid);
  }
}

/** Whether there may be callbacks for `object`, so that copies of it must be made for them. */
export function hasCallbacks({ settings }: Pass, object: UnstructuredObject): boolean {
  return settings.dispatcher.handles?.(object) ?? true;
}

/**
 * Calls the callbacks of an object.
 * @throws the error of a callback, unchanged.
 * @throws OperatorError `InvalidObject`: a callback changed the apiVersion, kind, name or namespace of the object that
 *   is written after it.
 */
export async function invokeCallbacks(
  pass: Pass,
  state: CallbackState,
  { desired, current }: CallbackObjects,
): Promise<void> {
  const object = desired ?? current;
  if (object === undefined || !hasCallbacks(pass, object)) return;
  const { settings, logger, live: client, cr } = pass;
  const { dispatcher, recorder, namespace } = settings;
  const what = `callback ${state} of ${describeObject(object)}`;
  const written = writtenAfter(state, { desired, current });
  const before = written && identifyingFields(written);
  await callUserCode(pass, { what, saw: [desired, current] }, (signal) => {
    const args = { logger, client, recorder, namespace, cr, state, desired, current, signal };
    return dispatcher.invokeCallbacks(args);
  });
  if (before !== undefined) refuseOtherIdentity(what, before, identifyingFields(written));
}

/** Returns the object that is written after the callbacks of a state, with their changes. */
function writtenAfter(
  state: CallbackState,
  { desired, current }: CallbackObjects,
): UnstructuredObject | undefined {
  if (state === 'PRE_CREATE') return desired;
  return state === 'PRE_UPDATE' ? current : undefined;
}

type Identity = Readonly<Record<string, unknown>>;

/** Any field may be missing, because a callback in plain JavaScript can remove it. */
function identifyingFields(object: Partial<UnstructuredObject> | undefined): Identity {
  const { apiVersion, kind, metadata }: Partial<UnstructuredObject> = object ?? {};
  const { name, namespace }: Partial<UnstructuredObject['metadata']> = metadata ?? {};
  return { apiVersion, kind, 'metadata.name': name, 'metadata.namespace': namespace };
}

// The reconciler would never find an object with another kind, name or namespace again, and would create it in each
// reconcile.
function refuseOtherIdentity(what: string, before: Identity, after: Identity): void {
  const changed = Object.keys(before).filter((path) => before[path] !== after[path]);
  if (changed.length === 0) return;
  const changes = changed.map((path) => {
    const [from, to] = [before[path], after[path]].map((value) => JSON.stringify(value));
    return `${path} from ${from ?? 'nothing'} to ${to ?? 'nothing'}`;
  });
  const remedy =
    'a callback may change other fields only; change these where the object is desired';
  throw new OperatorError('InvalidObject', `${what} changed ${changes.join(', ')}: ${remedy}`);
}

/**
 * Calls the callbacks of a state after a write. Their errors cannot undo the write: each reconcile of this
 * process calls them again until they succeed.
 * @throws the error of a callback, unchanged.
 */
export async function invokeAfter(
  pass: Pass,
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

/**
 * Returns the state of the pending callbacks of an object since its last write; undefined if there are no
 * pending callbacks.
 */
export function owedState(
  { settings, cr }: Pass,
  { metadata }: UnstructuredObject,
): AfterState | undefined {
  return settings.owedCallbacks.of(cr).get(metadata.uid ?? '')?.state;
}

/** Returns the deleted objects with pending callbacks. */
export function owedDeletions({ settings, cr }: Pass): readonly UnstructuredObject[] {
  const owed = [...settings.owedCallbacks.of(cr).values()];
  return owed.flatMap(({ state, object }) => (state === 'POST_DELETE' ? [object] : []));
}
