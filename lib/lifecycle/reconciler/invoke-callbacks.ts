import { describeObject } from '../../object/describe-object.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { CallbackState } from '../callbacks/callback.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import type { Pass } from './pass.js';
import { callUserCode } from './user-code.js';

/** What callbacks are told of: objects that are theirs to change. */
export interface ToldObjects {
  readonly desired?: UnstructuredObject | undefined;
  readonly current?: UnstructuredObject | undefined;
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
