import pick from 'lodash/pick.js';
import type { Client } from '../../client/index.js';
import { forwarding } from '../../client/index.js';
import type { ObjectEvent } from '../../events/index.js';
import type { KubernetesObject, ObjectKey } from '../../object/index.js';
import type { Logger } from '../../system/index.js';
import type { Marked, Trouble } from '../conditions.js';
import { explainedStatus } from '../conditions.js';
import type { LifecycleObject, LifecycleStatus } from '../lifecycle-status.js';
import type { HookContext, Settings } from './settings.js';
import { failureKindOf, readableError } from '../../controller/index.js';
import { isFoundInvalid, isUnavailable, isJsonObject, redacted } from '../../object/index.js';
import { errorMessage } from '../../system/index.js';

/** The request of a reconcile; a controller's `ReconcileContext` is one. */
export interface LifecycleRequest {
  /** The configuration. */
  readonly key: ObjectKey;
  /** Sends the requests of the reconcile. @defaultValue the reconciler's client */
  readonly client?: (Client & { readonly live?: Client }) | undefined;
  /** Ends the reconcile when it is aborted. @defaultValue a signal that is never aborted */
  readonly signal?: AbortSignal | undefined;
  /** The logger of the reconcile. @defaultValue the reconciler's logger */
  readonly logger?: Logger | undefined;
}

/**
 * One reconcile of one custom resource. Collects the changes of the status, which is written once, at the end,
 * even after an error; events are recorded then, in order.
 */
export class Pass {
  readonly settings: Settings;
  /** The version of the running operator. */
  readonly operatorVersion: string;
  /** May read from a cache. */
  readonly client: Client;
  /** Reads from the server. Later reads from the cache include its writes. */
  readonly live: Client;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** The configuration as read, or as the last write of this reconcile returned it. */
  cr: LifecycleObject;
  /** The status to write. */
  status: LifecycleStatus;
  /** Whether the configuration is gone or about to go, so that its status is not written. */
  isOver = false;
  /** Whether this reconcile began a deployment or an upgrade. The same reconcile cannot complete it. */
  hasBegun = false;
  /** The reason that the conditions get if this reconcile fails. */
  failureReason = 'ReconcileFailed';
  /** Whether the renewal of perishables, the objects that expire, is done or must not run. */
  arePerishablesKept = false;
  readonly #waitingFor: string[] = [];
  #complaint: Trouble | undefined;
  #complained: PendingEvent | undefined;
  #events: PendingEvent[] = [];
  readonly #afterStatus: (() => void)[] = [];
  /** The messages of the events about each error. An error that is thrown for several objects has several events. */
  readonly #eventTexts = new Map<unknown, readonly string[]>();
  readonly #sources = new Map<unknown, ErrorSource>();

  constructor(
    settings: Settings,
    request: LifecycleRequest,
    { cr, operatorVersion }: { readonly cr: LifecycleObject; readonly operatorVersion: string },
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

  /** Whether nothing has been deployed yet. */
  get isCreating(): boolean {
    // Pass the whole status: a custom `isCreating` may read conditions, which can exist before the first phase.
    return (this.status.phase ?? '') === '' || this.settings.crManager.isCreating(this.cr);
  }

  hooks(signal: AbortSignal): HookContext {
    const { live: client, logger } = this;
    return { client, logger, signal, recorder: this.settings.recorder };
  }

  /** Sets the status, and adds its event. */
  mark({ status, event }: Marked, more: LifecycleStatus = {}): void {
    this.status = { ...status, ...more };
    this.#addEvent(event, { ofStatus: true });
  }

  /** Adds an object, with its progress, to those that the conditions name as awaited. */
  waitFor(what: string): void {
    this.#waitingFor.push(what);
  }

  /** Sets the conditions for a problem; undefined means that there is no problem. */
  explain(trouble: Trouble | undefined): void {
    const waitingFor = this.#waitingFor;
    const { clock } = this.settings;
    this.status = explainedStatus(this.status, { trouble, waitingFor, clock });
  }

  /** The problem that {@link complain} reported last in this reconcile. */
  get complaint(): Trouble | undefined {
    return this.#complaint;
  }

  /**
   * Sets the conditions for a problem, and adds an event unless it was already reported. A later problem of a
   * reconcile contains the earlier one, and replaces its event.
   */
  complain(trouble: Trouble): void {
    const { reason, message } = trouble;
    const said = this.settings.crManager
      .status(this.cr)
      ?.conditions?.some(
        (one) => one.status === 'True' && one.reason === reason && one.message === message,
      );
    this.#complaint = trouble;
    this.explain(trouble);
    this.#events = this.#events.filter((each) => each !== this.#complained);
    if (said === true) return;
    this.#complained = this.#addEvent({ reason, message, type: 'Warning' }, { ofStatus: true });
  }

  /** Adds an event about an operation on an object. */
  addEvent(event: Marked['event'], related?: KubernetesObject): void {
    this.#addEvent(event, { related, ofStatus: false });
  }

  /** Adds an event about the status, which is recorded after the status is written. */
  addStatusEvent(event: Marked['event']): void {
    this.#addEvent(event, { ofStatus: true });
  }

  /**
   * Adds an event about the failure of an operation on `object`, and marks the error as reported. Does nothing
   * if the reconcile was aborted: that caused the failure.
   */
  fail(error: unknown, { reason, what }: FailedOperation, object: KubernetesObject): void {
    if (this.signal.aborted) return;
    const message = `${what} ${this.textOf(error, object)}`;
    this.#eventTexts.set(error, [...(this.#eventTexts.get(error) ?? []), message]);
    this.addEvent({ reason, message, type: 'Warning' }, object);
  }

  /** Returns the messages of the events about `error`; undefined if there was no event. */
  eventTextOf(error: unknown): string | undefined {
    return this.#eventTexts.get(error)?.join('; ');
  }

  /** Remembers which callback or hook threw `error`, because the error itself is rethrown unchanged. */
  nameSource(error: unknown, source: ErrorSource): void {
    this.#sources.set(error, source);
  }

  /** Returns the source and the cause of a failure. Redacts the data of `object` if it is a Secret. */
  textOf(error: unknown, object?: KubernetesObject): string {
    const { what, saw = [] } = this.#sources.get(error) ?? {};
    const text = failureText(readableError(error), object, ...saw);
    // The message of a time-out already names the source.
    return what === undefined || text.startsWith(what) ? text : `${what}: ${text}`;
  }

  /** Calls `work` after the status is written. */
  onceWritten(work: () => void): void {
    this.#afterStatus.push(work);
  }

  /** Records the events, at the end. Events about a status that could not be written are dropped. */
  record(isStatusWritten: boolean): void {
    for (const { event, ofStatus } of this.#events.splice(0)) {
      if (isStatusWritten || !ofStatus) this.settings.recorder.record(event);
    }
    if (isStatusWritten) for (const work of this.#afterStatus) work();
  }

  #addEvent(
    { type, reason, message }: Marked['event'],
    {
      related,
      ofStatus,
    }: { readonly related?: KubernetesObject | undefined; readonly ofStatus: boolean },
  ): PendingEvent {
    const regarding = this.cr;
    const event = { regarding, related, type, reason, action: reason, note: message };
    const pending = { event, ofStatus };
    this.#events.push(pending);
    return pending;
  }
}

/** The operator's code that threw an error. */
export interface ErrorSource {
  /** The code's name in messages. */
  readonly what: string;
  /** The objects that the code got: their data may be in the message of the error. */
  readonly saw?: readonly (KubernetesObject | undefined)[];
}

interface FailedOperation {
  readonly reason: string;
  /** The message before the cause, for example `could not delete Service shop/web:`. */
  readonly what: string;
}

/** An event to record, and whether it is about the status. */
interface PendingEvent {
  readonly event: ObjectEvent;
  readonly ofStatus: boolean;
}

/**
 * Returns a client that reads from the server and writes through `client`. After a write through `client.live`, the
 * cache could still return the old object.
 */
function liveReads(client: Client & { readonly live?: Client }): Client {
  const { live } = client;
  if (live === undefined) return client;
  return { ...forwarding(client), ...pick(forwarding(live), ['get', 'list', 'pages']) };
}

/**
 * Returns the cause of a failure for events and conditions. Redacts the data of those of `objects` that are
 * Secrets. Adds the remedy for immutable fields.
 */
export function failureText(
  error: unknown,
  ...objects: readonly (KubernetesObject | undefined)[]
): string {
  const text = objects.reduce(withoutData, errorMessage(error));
  if (!isFoundInvalid(error)) return text;
  if (smallerClaim.test(text)) return `${text}; ${claimRemedy}`;
  return fixedField.test(text) ? `${text}; ${immutableRemedy}` : text;
}

/** The words of the server about fields that cannot change. */
const fixedField = /immutable|may not be changed|may not change once set|are forbidden/;

/** The words of current servers, and of those before Kubernetes 1.32, about a claim that would shrink. */
const smallerClaim = /can not be less than (?:status\.capacity|previous value)/;

const claimRemedy = 'take the change back: claims can only grow';

// Names the harmless remedy first: a deletion stops the pods of a workload, and deletes the data of a claim.
const immutableRemedy =
  'give the object another name in a new release, or delete it, with its pods or data, to have it recreated';

function withoutData(text: string, object: KubernetesObject | undefined): string {
  if (object?.kind !== 'Secret') return text;
  const members = object as { readonly data?: unknown; readonly stringData?: unknown };
  const secrets = [members.data, members.stringData].flatMap((values) =>
    isJsonObject(values) ? Object.values(values) : [],
  );
  return secrets
    .flatMap((value) => (typeof value === 'string' ? [value, decoded(value), encoded(value)] : []))
    .filter((value) => value !== '')
    .reduce((rest, value) => rest.replaceAll(value, redacted), text);
}

function decoded(value: string): string {
  return Buffer.from(value, 'base64').toString('utf8');
}

function encoded(value: string): string {
  return Buffer.from(value, 'utf8').toString('base64');
}

/** Joins several errors into one that names all causes. A single error is returned unchanged. */
export function joined(errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0];
  const texts = errors.map((error) => errorMessage(error));
  return new AggregateError(errors, texts.join('; '));
}

/** Returns the errors that {@link joined} has joined. */
export function partsOf(error: unknown): readonly unknown[] {
  return error instanceof AggregateError ? (error.errors as unknown[]) : [error];
}

/**
 * Shows the failure of a reconcile in the conditions, and records an event unless one exists. Skips conflicts
 * and similar errors that are retried at once, a stopped operator, and a server that is temporarily
 * unavailable.
 */
export function reportFailure(pass: Pass, error: unknown): void {
  const kind = failureKindOf(error);
  if (pass.signal.aborted || kind === 'conflict' || kind === 'waiting') return;
  const parts = partsOf(error);
  if (parts.every(isUnavailable)) return;
  const before = pass.complaint;
  const texts = [...(before === undefined ? [] : [before.message]), causesOf(pass, error)];
  const message = texts.join('; ');
  const trouble = { ...before, reason: before?.reason ?? pass.failureReason, message };
  if (parts.every((part) => pass.eventTextOf(part) !== undefined)) pass.explain(trouble);
  else pass.complain(trouble);
}

/** Returns the causes of a failure as text; a cause that has an event has the text of the event. */
export function causesOf(pass: Pass, error: unknown): string {
  const parts = new Set(partsOf(error));
  return [...parts].map((part) => pass.eventTextOf(part) ?? pass.textOf(part)).join('; ');
}
