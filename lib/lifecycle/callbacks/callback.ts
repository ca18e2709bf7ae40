import type { Client } from '../../client/client.js';
import type { Recorder } from '../../events/recorder.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { Logger } from '../../system/logger.js';
import type { LifecycleObject } from '../lifecycle-status.js';

/** The point in an operation at which a callback is called. */
export type CallbackState =
  /** Before an object is created. Changes of `desired` are part of the creation. */
  | 'PRE_CREATE'
  | 'POST_CREATE'
  /** After an existing object was read. Changes of `current` are merged and written. */
  | 'POST_READ'
  /** Before a changed object is written. Changes of `current` are written. */
  | 'PRE_UPDATE'
  | 'POST_UPDATE'
  /** Before an object is pruned. */
  | 'PRE_DELETE'
  | 'POST_DELETE'
  /** For each object when the configuration is being deleted, before any deletion. */
  | 'OPERATOR_DELETE';

/**
 * The arguments of a callback. The objects are copies: changes of them are written where the state allows it.
 */
export interface CallbackArguments<CR extends LifecycleObject = LifecycleObject> {
  readonly logger: Logger;
  /** Reads from the server, never from a cache. */
  readonly client: Client;
  readonly recorder: Recorder;
  /** The operator's namespace. */
  readonly namespace: string;
  readonly cr: CR;
  readonly state: CallbackState;
  /** The desired object; undefined if the object is pruned. */
  readonly desired: KubernetesObject | undefined;
  /** The live object; undefined if it does not exist. */
  readonly current: KubernetesObject | undefined;
  readonly signal: AbortSignal;
}

/** Called at a {@link CallbackState}. Its errors reach the reconciler unchanged. */
export type Callback<CR extends LifecycleObject = LifecycleObject> = (
  args: CallbackArguments<CR>,
) => void | Promise<void>;
