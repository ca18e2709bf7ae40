import type { Client } from '../../client/client.js';
import type { Recorder } from '../../events/recorder.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { Logger } from '../../system/logger.js';
import type { LifecycleObject } from '../lifecycle-status.js';

/** When a callback is called. */
export type CallbackState =
  /** Before an object is made; what it changes in `desired` is made. */
  | 'PRE_CREATE'
  | 'POST_CREATE'
  /** When an object was read that exists; what it changes in `current` is merged and written. */
  | 'POST_READ'
  /** Before a changed object is written; what it changes in `current` is written. */
  | 'PRE_UPDATE'
  | 'POST_UPDATE'
  /** Before an object is pruned. */
  | 'PRE_DELETE'
  | 'POST_DELETE'
  /** For each object when the configuration is being deleted, before anything is. */
  | 'OPERATOR_DELETE';

/** What a callback is handed. Objects are its own: what it may change is written. */
export interface CallbackArguments<CR extends LifecycleObject = LifecycleObject> {
  readonly logger: Logger;
  /** Reads from the server, never from a cache. */
  readonly client: Client;
  readonly recorder: Recorder;
  /** Of the operator. */
  readonly namespace: string;
  readonly cr: CR;
  readonly state: CallbackState;
  /** The object as it should be; undefined when it is pruned. */
  readonly desired: KubernetesObject | undefined;
  /** The object as it is; undefined where there is none. */
  readonly current: KubernetesObject | undefined;
  readonly signal: AbortSignal;
}

/** Called at a {@link CallbackState}; what it throws reaches the reconciler as it is. */
export type Callback<CR extends LifecycleObject = LifecycleObject> = (
  args: CallbackArguments<CR>,
) => void | Promise<void>;
