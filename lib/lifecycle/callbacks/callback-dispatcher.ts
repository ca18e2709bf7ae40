import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { TypeReference } from '../../object/resource-type.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import type { Callback, CallbackArguments } from './callback.js';

/** Who is told, and asked, when something is done to an object; `CallbackDispatcher` is one. */
export interface Callbacks<CR extends LifecycleObject = LifecycleObject> {
  /** Has `callback` called for objects of `type`; `null`: of every kind, after those of the kind. */
  addCallback(type: TypeReference<KubernetesObject> | null, callback: Callback<CR>): void;
  /** Calls them one after another; what one throws ends it, and is thrown. */
  invokeCallbacks(args: CallbackArguments<CR>): Promise<void>;
}
