import type { CachingClient, Client, DeleteOptions, WriteDetails } from '../client/index.js';
import { getIfExists, isStaleWrite } from '../client/index.js';
import type { OperatorEvents, Recorder } from '../events/index.js';
import { WriteReport } from '../events/index.js';
import {
  isAlreadyExists,
  isApiError,
  isInvalid,
  isNotFound,
  keyOf,
  referenceTo,
} from '../object/index.js';
import type {
  JsonPatchOperation,
  KubernetesObject,
  UnstructuredObject,
  ObjectReference,
  ResourceType,
  TypeReference,
} from '../object/index.js';
import {
  systemClock,
  silentLogger,
  OperatorError,
  refuseNonList,
  refuseOtherThan,
} from '../system/index.js';
import type { Clock, Logger, ErrorCode } from '../system/index.js';
import type { ImmutablePolicy } from './desired-object.js';
import type { ManagedApply } from './removed-fields.js';

/** Settings for applying objects: client, owner, identity and policies. */
export interface ApplySettings {
  readonly client: CachingClient;
  readonly owner: KubernetesObject;
  /** The field manager, and the value of `app.kubernetes.io/managed-by`. */
  readonly controllerName: string;
  /** Labels that every object gets; an object's own labels override them. */
  readonly labels: Readonly<Record<string, string>>;
  /** The value of the scope label: only objects with the same value are pruned. */
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

/** {@link ApplySettings} as a caller gives them; settings with a default are optional. */
export type ApplySettingsOptions = Pick<ApplySettings, 'client' | 'owner' | 'controllerName'> & {
  readonly [Name in keyof Omit<ApplySettings, 'maxDeletions'>]?: ApplySettings[Name] | undefined;
} & { readonly maxDeletions?: number | string | undefined };

/**
 * Fills in the defaults.
 * @throws OperatorError `InvalidOption`: an option has an invalid form.
 */
export function applySettings(options: ApplySettingsOptions): ApplySettings {
  const { client, owner, controllerName, scope, recorder, emitter, signal, pruneClaims } = options;
  const { labels = {}, onImmutable = 'fail', adopt = false, adoptManagers = [] } = options;
  const { clock = systemClock, logger = silentLogger } = options;
  const maxDeletions = deletionLimit(options.maxDeletions);
  checkControllerName(controllerName);
  refuseOtherThan('onImmutable', options.onImmutable, immutablePolicies);
  refuseOtherThan('adopt', options.adopt, booleans);
  refuseOtherThan('pruneClaims', pruneClaims, booleans);
  refuseNonList('adoptManagers', options.adoptManagers);
  return {
    ...{ client, owner, controllerName, labels, scope, onImmutable, adopt, adoptManagers },
    ...{ maxDeletions, pruneClaims, recorder, emitter, clock, logger, signal },
  };
}

/** The values of {@link ImmutablePolicy}. */
export const immutablePolicies: readonly ImmutablePolicy[] = ['fail', 'recreate', 'recreateOrphan'];

const booleans = [true, false];

function checkControllerName(name: string): void {
  if (isManagerName(name)) return;
  const message = `controllerName: want 1 to 128 printable characters, got ${JSON.stringify(name)}`;
  throw new OperatorError('InvalidOption', message);
}

/** Returns true if the server accepts the name of a field manager: 1 to 128 printable characters. */
export function isManagerName(name: string): boolean {
  return /^[\x20-\x7e]{1,128}$/.test(name);
}

function deletionLimit(given: number | string | undefined): DeletionLimit {
  // If an owner has few objects, a prune may delete more than half of them, but never all.
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

/** Returns how many objects one prune may delete, given the number owned and the number still desired. */
export type DeletionLimit = (objects: {
  readonly owned: number;
  readonly staying: number;
}) => number;

/** An event on the owner about something other than one API request, such as a stuck rollout. */
export interface Report {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, for example `RolloutStuck`. */
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  /** The object that the event is about. */
  readonly related: ObjectReference;
  /** The failure behind the event. Listeners receive it unless a failed call has already reported it. */
  readonly error?: OperatorError;
}

/** The shared context of all functions that read or write objects. */
export interface ApplyContext<Settings extends ApplySettings = ApplySettings> {
  readonly settings: Settings;
  /** Records its writes as events. */
  readonly client: Client;
  readonly report: (report: Report) => void;
}

/** Reads an object; undefined if it does not exist. */
export function readObject(
  { client, settings }: Pick<ApplyContext, 'client' | 'settings'>,
  type: TypeReference<KubernetesObject>,
  { namespace, name }: Pick<ObjectReference, 'namespace' | 'name'>,
): Promise<UnstructuredObject | undefined> {
  const { signal } = settings;
  return getIfExists(client, type as ResourceType, { namespace, name }, { signal });
}

/**
 * Returns the options of an apply: unknown fields are errors, and fields of other managers are taken over.
 */
export function applyOptions(
  { settings }: Pick<ApplyContext, 'settings'>,
  details?: WriteDetails,
): ManagedApply {
  const { controllerName: fieldManager, signal } = settings;
  return { force: true, fieldManager, signal, fieldValidation: 'Strict', details };
}

/** Returns `object` with the uid of `live`, so that the apply fails on another object of the same name. */
export function withUid(object: UnstructuredObject, live: UnstructuredObject): UnstructuredObject {
  const { uid } = live.metadata;
  return { ...object, metadata: { ...object.metadata, ...(uid !== undefined && { uid }) } };
}

/**
 * Returns `object` for an apply that may only create it: the server answers 409 if an object of that name exists. Apply
 * has no "must not exist" precondition, but the server compares the resource version in the object. No stored object
 * has version 1: an empty store is at version 1, and every write gets a higher one.
 */
export function asNew(object: UnstructuredObject): UnstructuredObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: '1' } };
}

/** Labels and annotations that are set on an object. */
export interface Marks {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Returns `object` with these labels and annotations besides its own. */
export function withMarks(
  object: UnstructuredObject,
  { labels = {}, annotations = {} }: Marks,
): UnstructuredObject {
  const { metadata } = object;
  const all = {
    labels: { ...metadata.labels, ...labels },
    annotations: { ...metadata.annotations, ...annotations },
  };
  const set = Object.entries(all).filter(([, map]) => Object.keys(map).length > 0);
  return { ...object, metadata: { ...metadata, ...Object.fromEntries(set) } };
}

/** Returns the preconditions of a write that was decided on `live`: same uid and same resource version. */
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
 * Deletes an object if it still has the resource version that was read.
 * @returns the object if it still exists; undefined if it is gone
 * @throws ApiError 409 (`isConflict`): it has changed since
 */
export async function deleteAsRead<T extends KubernetesObject>(
  client: Client,
  type: TypeReference<T>,
  object: T,
  options: Omit<DeleteOptions, 'preconditions'>,
): Promise<T | undefined> {
  try {
    return await client.delete(type, keyOf(object), { ...options, preconditions: asRead(object) });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return undefined;
  }
}

/**
 * Returns `object` for an apply that was decided on `live`. If another process has written the object
 * meanwhile, the apply is a 409. This guards late writes of a process that was stopped or has lost its Lease.
 */
export function withVersion(
  object: UnstructuredObject,
  live: KubernetesObject,
): UnstructuredObject {
  return { ...object, metadata: { ...object.metadata, ...asRead(live) } };
}

/** Returns a JSON patch that the server refuses as a conflict if the object has changed since `live` was read. */
export function jsonPatchAsRead(
  { metadata: { resourceVersion: value } }: KubernetesObject,
  operations: readonly JsonPatchOperation[],
): { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] } {
  const version = { op: 'replace', path: '/metadata/resourceVersion', value } as const;
  return { type: 'json', operations: [...operations, version] };
}

// After a conflict, a cached read waits for the watch, so the next attempt reads the current object. An attempt
// conflicts again only if the object changes meanwhile, as its status does during a rollout.
const maxAttempts = 5;

/** Runs `attempt` again while the object differs from what was read, at most `maxAttempts` times. */
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
 * Returns true if the live object is not the one that was read. The server answers 409 to an apply with an
 * old resource version, and to the creation of an object that exists. It answers 422 to an apply with the uid
 * of a replaced object, and if another controller owns the object since the read.
 */
export function isStale(error: unknown): boolean {
  if (isStaleWrite(error) || isAlreadyExists(error)) return true;
  const causes = isInvalid(error) && isApiError(error) ? error.causes : [];
  return causes.some(({ field }) => field === 'metadata.ownerReferences');
}

/** Creates a context that records its writes as events on the owner. */
export function recordingContext<Settings extends ApplySettings>(
  settings: Settings,
): ApplyContext<Settings> {
  const { owner, recorder, emitter } = settings;
  const writes = new WriteReport(settings);
  const report = ({ related, error, ...event }: Report): void => {
    recorder?.record({ ...event, regarding: owner, related });
    if (error === undefined || writes.hasEmitted(error) || writes.hasEmitted(error.cause)) return;
    const verb = error.code === 'TooManyDeletions' ? 'delete' : 'apply';
    emitter?.emit('failed', { ref: related, owner: referenceTo(owner), verb, error });
  };
  return { settings, client: writes.recorded(settings.client), report };
}

// The codes of failures that this module records. They occur without an API request, or say more than the server's
// answer. The client records failed requests. A failed dependency is recorded with its own object.
const reported: ReadonlySet<ErrorCode> = new Set([
  ...(['NotOurs', 'AlreadyOwned', 'InvalidOwner', 'InvalidObject'] as const),
  ...(['ImmutableField', 'UnknownKind', 'TooManyDeletions'] as const),
  ...(['DuplicateObject', 'UnknownReference', 'InvalidOption'] as const),
]);

/** Records a failure as a Warning if its code is in `reported`. */
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
