import type { Client } from '../../client/client.js';
import type { KubernetesObject, ObjectKey } from '../../object/kubernetes-object.js';
import type { Logger } from '../../system/logger.js';
import type { Explanation, Marked } from '../conditions/marks.js';
import type { LifecycleObject, LifecycleStatus } from '../lifecycle-status.js';
import type { HookContext } from './lifecycle-reconciler-options.js';
import type { Settings } from './settings.js';

/** What a reconcile is asked for; a controller's `ReconcileContext` is one. */
export interface LifecycleRequest {
  /** The configuration. */
  readonly key: ObjectKey;
  /** @defaultValue that of the reconciler */
  readonly client?: (Client & { readonly live?: Client }) | undefined;
  /** @defaultValue never aborted */
  readonly signal?: AbortSignal | undefined;
  /** @defaultValue that of the reconciler */
  readonly logger?: Logger | undefined;
}

/**
 * One look at one configuration. What steps find out about its status is collected here, and written
 * once, at the end, whatever happens.
 */
export class Pass<CR extends LifecycleObject> {
  readonly settings: Settings<CR>;
  /** The version of the operator that runs. */
  readonly operatorVersion: string;
  /** Its reads may come from a cache. */
  readonly client: Client;
  /** Reads from the server. */
  readonly live: Client;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** As it was read, or as the last write of this pass has left it. */
  cr: CR;
  /** As it will be written. */
  status: LifecycleStatus;
  /** Whether the configuration is gone, or about to go: nothing is left to be said of it. */
  isOver = false;

  constructor(
    settings: Settings<CR>,
    request: LifecycleRequest,
    { cr, operatorVersion }: { readonly cr: CR; readonly operatorVersion: string },
  ) {
    const { client = settings.client, signal, logger = settings.logger } = request;
    this.settings = settings;
    this.client = client;
    this.live = client.live ?? client;
    this.logger = logger;
    this.signal = signal ?? new AbortController().signal;
    this.cr = cr;
    this.operatorVersion = operatorVersion;
    this.status = settings.crManager.status(cr) ?? {};
  }

  /** What hooks are handed. */
  get hooks(): HookContext {
    const { live: client, logger, signal } = this;
    return { client, logger, signal, recorder: this.settings.recorder };
  }

  /** Sets what the status says, and tells of it. */
  mark({ status, event }: Marked, more: LifecycleStatus = {}): void {
    this.status = { ...status, ...more };
    this.tell(event);
  }

  /** Records an event at the configuration; `related`: about this object. */
  tell(event: Marked['event'], related?: KubernetesObject): void {
    this.settings.recorder.record({
      regarding: this.cr,
      related,
      type: event.type,
      reason: event.reason,
      action: event.reason,
      note: event.message,
    });
  }

  /** Tells that something is not as it should be. */
  warn(why: Explanation, related?: KubernetesObject): void {
    this.tell({ ...why, type: 'Warning' }, related);
  }
}
