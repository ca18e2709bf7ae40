import pick from 'lodash/pick.js';
import type { Client } from '../../client/client.js';
import { forwarding } from '../../client/forwarding.js';
import type { ObjectEvent } from '../../events/recorder.js';
import type { KubernetesObject, ObjectKey } from '../../object/kubernetes-object.js';
import type { Logger } from '../../system/logger.js';
import type { Explanation, Marked } from '../conditions/marks.js';
import { explainedStatus } from '../conditions/explained-status.js';
import type { Trouble } from '../conditions/explained-status.js';
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
 * once, at the end, whatever happens; events are recorded then, in order.
 */
export class Pass<CR extends LifecycleObject> {
  readonly settings: Settings<CR>;
  /** The version of the operator that runs. */
  readonly operatorVersion: string;
  /** Its reads may come from a cache. */
  readonly client: Client;
  /** Reads from the server; what it writes is seen by the next read from the cache, too. */
  readonly live: Client;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** As it was read, or as the last write of this pass has left it. */
  cr: CR;
  /** As it will be written. */
  status: LifecycleStatus;
  /** Whether the configuration is gone, or about to go: nothing is left to be said of it. */
  isOver = false;
  /** Whether a deployment or an upgrade has begun in this pass: it can't be complete in the same. */
  hasBegun = false;
  /** What an error of this pass is called in the conditions. */
  failureReason = 'ReconcileFailed';
  /** Whether perishables were looked after, or are not to be. */
  arePerishablesKept = false;
  readonly #waitingFor: string[] = [];
  #complaint: Trouble | undefined;
  readonly #events: { readonly event: ObjectEvent; readonly ofStatus: boolean }[] = [];
  readonly #told = new Map<unknown, string>();
  readonly #sources = new Map<unknown, string>();

  constructor(
    settings: Settings<CR>,
    request: LifecycleRequest,
    { cr, operatorVersion }: { readonly cr: CR; readonly operatorVersion: string },
  ) {
    const { client = settings.client, signal, logger = settings.logger } = request;
    this.settings = settings;
    this.client = client;
    this.live = liveReads(client);
    this.logger = logger;
    this.signal = signal ?? new AbortController().signal;
    this.cr = cr;
    this.operatorVersion = operatorVersion;
    this.status = settings.crManager.status(cr) ?? {};
  }

  /** Whether nothing was deployed yet. */
  get isCreating(): boolean {
    // An operator's own idea of it may look at conditions, which are there before the first phase is.
    return (this.status.phase ?? '') === '' || this.settings.crManager.isCreating(this.cr);
  }

  /** What a hook is handed. */
  hooks(signal: AbortSignal): HookContext {
    const { live: client, logger } = this;
    return { client, logger, signal, recorder: this.settings.recorder };
  }

  /** Sets what the status says, and tells of it. */
  mark({ status, event }: Marked, more: LifecycleStatus = {}): void {
    this.status = { ...status, ...more };
    this.#tell(event, { ofStatus: true });
  }

  /** Adds an object, and how far it is, to those that the conditions wait for. */
  waitFor(what: string): void {
    this.#waitingFor.push(what);
  }

  /** Has the conditions say how the system is; undefined: it is well. */
  explain(trouble: Trouble | undefined): void {
    const waitingFor = this.#waitingFor;
    const { clock } = this.settings;
    this.status = explainedStatus(this.status, { trouble, waitingFor, clock });
  }

  /** The problem that {@link complain} reported last in this reconcile. */
  get complaint(): Trouble | undefined {
    return this.#complaint;
  }

  /** Has the conditions say what is wrong, and tells of it once, by an event. */
  complain(trouble: Trouble): void {
    const { reason, message } = trouble;
    const said = this.settings.crManager
      .status(this.cr)
      ?.conditions?.some(
        (one) => one.status === 'True' && one.reason === reason && one.message === message,
      );
    this.#complaint = trouble;
    this.explain(trouble);
    if (said !== true) this.tellOfStatus({ reason, message, type: 'Warning' });
  }

  /** Tells of what was done to an object. */
  tell(event: Marked['event'], related?: KubernetesObject): void {
    this.#tell(event, { related, ofStatus: false });
  }

  /** Records an event about the status, once that is written. */
  tellOfStatus(event: Marked['event']): void {
    this.#tell(event, { ofStatus: true });
  }

  /** Tells that something failed; nobody else needs to. */
  fail(error: unknown, why: Explanation, related?: KubernetesObject): void {
    this.#told.set(error, why.message);
    this.tell({ ...why, type: 'Warning' }, related);
  }

  /** What an event has told of `error`; undefined: none has. */
  toldOf(error: unknown): string | undefined {
    return this.#told.get(error);
  }

  /** Notes what has thrown `error`, which reaches the caller as it is. */
  nameSource(error: unknown, what: string): void {
    this.#sources.set(error, what);
  }

  /** What has thrown `error`, where it is the operator's own code. */
  sourceOf(error: unknown): string | undefined {
    return this.#sources.get(error);
  }

  /** Records the events, at the end: of a status that could not be written nobody is told. */
  record(isStatusWritten: boolean): void {
    for (const { event, ofStatus } of this.#events.splice(0)) {
      if (isStatusWritten || !ofStatus) this.settings.recorder.record(event);
    }
  }

  #tell(
    { type, reason, message }: Marked['event'],
    {
      related,
      ofStatus,
    }: { readonly related?: KubernetesObject | undefined; readonly ofStatus: boolean },
  ): void {
    const regarding = this.cr;
    const event = { regarding, related, type, reason, action: reason, note: message };
    this.#events.push({ event, ofStatus });
  }
}

/** `client`, with reads from the server: its own live one would write past the cache. */
function liveReads(client: Client & { readonly live?: Client }): Client {
  const { live } = client;
  if (live === undefined) return client;
  return { ...forwarding(client), ...pick(forwarding(live), ['get', 'list', 'pages']) };
}
