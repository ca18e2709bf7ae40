import type { EventEmitter } from 'eventemitter3';
import type { ApplyOptions, CachingClient, Client } from '../client/client.js';
import { getIfExists } from '../client/get-if-exists.js';
import { OperatorEvents } from '../events/operator-events.js';
import type { OperatorEventMap } from '../events/operator-events.js';
import type { Recorder } from '../events/recorder.js';
import { recordingClient } from '../events/recording-client.js';
import type { WriteDetails } from '../events/recording-client.js';
import { isAlreadyExists, isApiError, isConflict, isInvalid } from '../object/api-error.js';
import type { KubernetesObject, UnstructuredObject } from '../object/kubernetes-object.js';
import { referenceTo } from '../object/object-reference.js';
import type { ObjectReference } from '../object/object-reference.js';
import type { ResourceType, TypeReference } from '../object/resource-type.js';
import { systemClock } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import { silentLogger } from '../system/logger.js';
import type { Logger } from '../system/logger.js';
import type { ErrorCode } from '../system/error-codes.js';
import { OperatorError } from '../system/operator-error.js';
import type { ImmutablePolicy } from './desired-object.js';
import { refId } from './kind-traits.js';

/** For whom, as whom and how objects are applied. */
export interface ApplySettings {
  readonly client: CachingClient;
  readonly owner: KubernetesObject;
  /** The field manager, and the value of `app.kubernetes.io/managed-by`. */
  readonly controllerName: string;
  /** Labels of every object, under its own. */
  readonly labels: Readonly<Record<string, string>>;
  /** The part of the owner's objects that is pruned. */
  readonly scope: string | undefined;
  readonly onImmutable: ImmutablePolicy;
  readonly adopt: boolean;
  readonly adoptManagers: readonly string[];
  readonly maxDeletions: DeletionLimit;
  readonly pruneClaims: boolean | undefined;
  readonly recorder: Recorder | undefined;
  readonly emitter: OperatorEvents | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal | undefined;
}

/** {@link ApplySettings} as they are given; those with a default may be left out. */
export type ApplySettingsOptions = Pick<ApplySettings, 'client' | 'owner' | 'controllerName'> & {
  readonly [Name in keyof Omit<ApplySettings, 'maxDeletions'>]?: ApplySettings[Name] | undefined;
} & { readonly maxDeletions?: number | string | undefined };

/**
 * Fills in the defaults.
 * @throws OperatorError `InvalidOption`: `controllerName` or `maxDeletions` is of a wrong shape.
 */
export function applySettings(options: ApplySettingsOptions): ApplySettings {
  const { client, owner, controllerName, scope, recorder, emitter, signal, pruneClaims } = options;
  const { labels = {}, onImmutable = 'fail', adopt = false, adoptManagers = [] } = options;
  const { clock = systemClock, logger = silentLogger } = options;
  const maxDeletions = deletionLimit(options.maxDeletions);
  checkControllerName(controllerName);
  return {
    ...{ client, owner, controllerName, labels, scope, onImmutable, adopt, adoptManagers },
    ...{ maxDeletions, pruneClaims, recorder, emitter, clock, logger, signal },
  };
}

function checkControllerName(name: string): void {
  // The server's rule for field managers: 1 to 128 printable characters.
  if (/^[\x20-\x7e]{1,128}$/.test(name)) return;
  const message = `controllerName: want 1 to 128 printable characters, got ${JSON.stringify(name)}`;
  throw new OperatorError('InvalidOption', message);
}

function deletionLimit(given: number | string | undefined): DeletionLimit {
  // Small sets shrink in larger shares: one of two objects is no accident, all of them may well be.
  if (given === undefined) {
    return ({ owned, staying }) => (staying === 0 ? 0 : Math.max(5, Math.floor(owned / 2)));
  }
  if (typeof given === 'number' && Number.isInteger(given) && given >= 0) return () => given;
  const percent = typeof given === 'string' ? Number(/^(\d{1,3})%$/.exec(given)?.[1]) : NaN;
  if (!(percent <= 100)) {
    const message = `maxDeletions: want an integer from 0 or a share up to '100%', got ${given}`;
    throw new OperatorError('InvalidOption', message);
  }
  return ({ owned }) => Math.floor((owned * percent) / 100);
}

/** How many objects one pruning may delete, of those `owned`, and of which `staying` are desired. */
export type DeletionLimit = (objects: {
  readonly owned: number;
  readonly staying: number;
}) => number;

/** Something worth an event on the owner that is not the outcome of a single call. */
export interface Report {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, for example `RolloutStuck`. */
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  /** The object that it is about. */
  readonly related: ObjectReference;
  /** The failure that it reports; listeners receive it unless a failed call has reported it. */
  readonly error?: OperatorError;
}

/** What everything that acts is given. */
export interface ApplyContext<Settings extends ApplySettings = ApplySettings> {
  readonly settings: Settings;
  /** Records what it writes. */
  readonly client: Client;
  readonly report: (report: Report) => void;
  /** Says what the next write to the object of `ref` changes, for its event. */
  readonly announce: (ref: ObjectReference, details: WriteDetails) => void;
}

/** Reads an object; undefined where there is none. */
export function readObject(
  { client, settings }: Pick<ApplyContext, 'client' | 'settings'>,
  type: TypeReference<KubernetesObject>,
  { namespace, name }: Pick<ObjectReference, 'namespace' | 'name'>,
): Promise<UnstructuredObject | undefined> {
  const { signal } = settings;
  return getIfExists(client, type as ResourceType, { namespace, name }, { signal });
}

/** How objects are applied: unknown fields are refused, and other managers' are taken. */
export function applyOptions({ settings }: Pick<ApplyContext, 'settings'>): ApplyOptions {
  const { controllerName: fieldManager, signal } = settings;
  return { force: true, fieldManager, signal, fieldValidation: 'Strict' };
}

/** `object` for an apply that must meet `live` and no other of its name. */
export function withUid(object: UnstructuredObject, live: UnstructuredObject): UnstructuredObject {
  const { uid } = live.metadata;
  return { ...object, metadata: { ...object.metadata, ...(uid !== undefined && { uid }) } };
}

/**
 * `object` for an apply that makes it: a 409 where an object of its name exists by then. Apply has no
 * "must not exist", but it compares the version that it names, which no stored object has: a store
 * without objects is of version 1, and each write to it makes the next one.
 */
export function asNew(object: UnstructuredObject): UnstructuredObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: '1' } };
}

/** The preconditions of a write that was decided on `live`: this very object, in this very version. */
export function asRead({ metadata: { uid, resourceVersion } }: KubernetesObject): {
  readonly uid?: string;
  readonly resourceVersion?: string;
} {
  return {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}

/**
 * `object` for an apply that was decided on `live`. A late one, whose process was stopped or has lost its
 * Lease, is a 409 where another process has written the object meanwhile.
 */
export function withVersion(
  object: UnstructuredObject,
  live: KubernetesObject,
): UnstructuredObject {
  return { ...object, metadata: { ...object.metadata, ...asRead(live) } };
}

// A cached read waits for the watch after a conflict, so the next attempt sees the truth, unless the
// status of the object changes all the time, as during a rollout.
const maxAttempts = 5;

/** Makes another attempt where the object is not what was read. */
export async function whileStale<T>(attempt: () => Promise<T>): Promise<T> {
  for (let made = 1; ; made++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isStale(error) || made >= maxAttempts) throw error;
    }
  }
}

/**
 * Whether the object is not what was read. An apply of a version that is not the live one is a 409, and
 * so is one that creates what exists; the UID of one that was replaced is a 422, and so is a second
 * controller, where somebody else has got it since it was read.
 */
export function isStale(error: unknown): boolean {
  if (isConflict(error) || isAlreadyExists(error)) return true;
  const identity = ['metadata.uid', 'metadata.ownerReferences'];
  const causes = isInvalid(error) && isApiError(error) ? error.causes : [];
  return causes.some(({ field = '' }) => identity.includes(field));
}

/** A context whose writes are recorded as events on the owner. */
export function recordingContext<Settings extends ApplySettings>(
  settings: Settings,
): ApplyContext<Settings> {
  const { owner, recorder, emitter, logger } = settings;
  const heard = new WeakSet();
  const announced = new Map<string, WriteDetails>();
  const client = recordingClient(settings.client, {
    ...{ recorder, owner, logger },
    emitter: emitter && new NotedEvents(emitter, heard),
    detailsOf: (ref) => announced.get(refId(ref)),
  });
  const report = ({ related, error, ...event }: Report): void => {
    recorder?.record({ ...event, regarding: owner, related });
    if (error === undefined || [error, error.cause].some((each) => isNoted(heard, each))) return;
    const verb = error.code === 'TooManyDeletions' ? 'delete' : 'apply';
    emitter?.emit('failed', { ref: related, owner: referenceTo(owner), verb, error });
  };
  return {
    settings,
    client,
    report,
    announce: (ref, details) => announced.set(refId(ref), details),
  };
}

/** Hands everything on, and notes the errors of which listeners have heard. */
class NotedEvents extends OperatorEvents {
  readonly #listeners: OperatorEvents;
  readonly #heard: WeakSet<object>;

  constructor(listeners: OperatorEvents, heard: WeakSet<object>) {
    super();
    this.#listeners = listeners;
    this.#heard = heard;
  }

  override emit<Name extends keyof OperatorEventMap>(
    name: Name,
    ...payload: EventEmitter.EventArgs<OperatorEventMap, Name>
  ): boolean {
    const [event] = payload as OperatorEventMap[Name];
    if ('error' in event && event.error instanceof Error) this.#heard.add(event.error);
    return this.#listeners.emit(name, ...payload);
  }
}

function isNoted(heard: WeakSet<object>, error: unknown): boolean {
  return error instanceof Error && heard.has(error);
}

// Failures of calls are recorded where the calls are made, and those of dependencies with what they
// depend on. These are found without a call, or say more than the server did.
const reported: ReadonlySet<ErrorCode> = new Set([
  ...(['NotOurs', 'AlreadyOwned', 'InvalidOwner', 'InvalidObject'] as const),
  ...(['ImmutableField', 'UnknownKind', 'TooManyDeletions'] as const),
  ...(['DuplicateObject', 'UnknownReference', 'InvalidOption'] as const),
]);

/** Records a failure that no call has recorded. */
export function reportFailure(
  { report }: ApplyContext,
  related: ObjectReference,
  error: OperatorError,
): void {
  const { code: reason, message: note } = error;
  if (reported.has(reason)) {
    report({ type: 'Warning', reason, action: 'Reconcile', note, related, error });
  }
}
