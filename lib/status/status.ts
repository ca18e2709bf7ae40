import omit from 'lodash/omit.js';
import type { Client } from '../client/index.js';
import type { CustomResource } from '../crd/index.js';
import { getIfExists } from '../client/index.js';
import {
  applyMergePatch,
  isConflict,
  findCondition,
  setCondition,
  deepEqual,
  describeObject,
  fieldElement,
  keyElement,
  FieldSet,
  isJsonObject,
  jsonCopy,
  appliedFields,
  keyOf,
  versionOf,
} from '../object/index.js';
import type {
  Condition,
  ConditionUpdate,
  KubernetesObject,
  TypeReference,
} from '../object/index.js';
import { OperatorError, systemClock, refuseUnknownOptions } from '../system/index.js';
import type { Clock } from '../system/index.js';

/** The part of a status that one field manager owns. */
export interface StatusUpdate {
  /** Conditions, one of each type. @defaultValue none */
  readonly conditions?: readonly ConditionUpdate[] | undefined;
  /** Other status fields by name; undefined fields are not set. @defaultValue none */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
}

/** Options of {@link patchStatus}. */
export interface PatchStatusOptions {
  /**
   * The field manager of the written fields, usually the name of the operator. In a handler of an `Operator`, use
   * another name: under its own name, the operator removes fields that it does not set itself.
   */
  readonly fieldManager: string;
  /**
   * Keep fields and conditions that `fieldManager` applied before, even if the update does not name them,
   * instead of removing them.
   * @defaultValue false
   */
  readonly keepOthers?: boolean | undefined;
  /**
   * Treat `conditions` as a plain list in the schema, not as a map by `type`. The list is then written as a
   * whole, guarded by the object's resourceVersion.
   * @defaultValue derived from `managedFields`, else false
   */
  readonly atomicConditions?: boolean | undefined;
  /**
   * The resource of `defineResource` that defines the kind. The status is checked before the write by the schema of the
   * object's version, unless other managers own fields of the status besides conditions.
   * @defaultValue only the server checks the status
   */
  readonly type?: TypeReference<KubernetesObject> | undefined;
  /** Clock for `lastTransitionTime`. @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** Aborts the call. @defaultValue none */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes the status of an object by server-side apply. It applies only the fields of `fieldManager`, so that
 * conditions and fields of other writers stay. It sends nothing if the status is as wanted, and keeps
 * `lastTransitionTime` of conditions whose status does not change.
 * @param object - as read; the write goes to no other object of its name. It needs `managedFields` if fields that
 * are no longer set are to be removed.
 * @returns the current object; `object` itself if nothing was sent
 * @throws ApiError 409 (`isConflict`): another object has the name now. 404: it is gone.
 * @throws OperatorError `InvalidValue`: a field is not JSON. `Terminal`: the schema of `type` refuses the status; its
 * cause is `InvalidObject`.
 */
export async function patchStatus<T extends KubernetesObject>(
  client: Client,
  object: T,
  update: StatusUpdate,
  options: PatchStatusOptions,
): Promise<T> {
  const { fieldManager, keepOthers, atomicConditions, type, clock, signal } = options;
  const names = { fieldManager, keepOthers, atomicConditions, type, clock, signal };
  refuseUnknownOptions<PatchStatusOptions>('patchStatus', options, names);
  const toApply = (now: KubernetesObject) => statusToApply(now, update, options);
  const applied = toApply(object);
  return applied === undefined
    ? object
    : ((await applyStatus(client, { object, applied, toApply }, options)) as T);
}

interface AppliedStatus {
  /** The object to send: only the status, with the uid and the resourceVersion of the object that was read. */
  readonly object: KubernetesObject & { readonly status: object };
  /** Whether the status holds only for the version that was read: it has a plain list of conditions. */
  readonly isOfVersion: boolean;
}

/** Returns the status to apply for `update`; undefined if the status is as wanted. */
export function statusToApply(
  object: KubernetesObject,
  update: StatusUpdate,
  options: PatchStatusOptions,
): AppliedStatus | undefined {
  const { fieldManager, keepOthers = false, clock = systemClock } = options;
  const { atomicConditions = hasAtomicConditions(object) } = options;
  const live = statusOf(object);
  const owned = ownedStatus(object, fieldManager);
  const given = jsonCopy(update.fields ?? {}, `status of ${describeObject(object)}`);
  const kept = keepOthers ? pick(live.fields, owned.fields) : {};
  const fields = { ...kept, ...given };
  const base = atomicConditions
    ? live.conditions
    : live.conditions.filter(({ type }) => keepOthers && owned.conditions.has(type));
  const conditions = desiredConditions(base, live.conditions, update, clock);
  const types = conditions.map(({ type }) => type);
  const status = { ...fields, ...(conditions.length > 0 && { conditions }) };
  const isSame =
    showsStatus(object, status) &&
    [...owned.fields].every((name) => name in fields) &&
    (atomicConditions || [...owned.conditions].every((type) => types.includes(type)));
  if (isSame) return undefined;
  const { apiVersion, kind } = object;
  const { uid, resourceVersion } = object.metadata;
  const guard = {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  const applied = { apiVersion, kind, status, metadata: { ...keyOf(object), ...guard } };
  return { object: applied, isOfVersion: atomicConditions };
}

/** Maximum number of attempts. Each conflict means that another client has written, so even many writers end soon. */
const maxApplies = 30;

interface StatusToApply {
  readonly object: KubernetesObject;
  readonly applied: AppliedStatus;
  /** Returns the result of `statusToApply` for the current object. */
  readonly toApply: (now: KubernetesObject) => AppliedStatus | undefined;
}

/**
 * Applies the result of `statusToApply`, and returns the object after the write. The API server ignores a uid in a
 * status write, so the write has the resourceVersion that was read. After a conflict, the object is read again: if it
 * is the same object, the status for its new state is sent. An older state may lack what `keepOthers` keeps. The
 * object is also read again before a status is refused by its schema: a cached object may be older than a transition
 * rule allows, and lacks `managedFields` and what a transform drops.
 * @throws ApiError 409 (`isConflict`): another object has the name now. 404: it is gone.
 * @throws OperatorError `Terminal`: the schema of the type refuses the status; its cause is `InvalidObject`.
 */
export async function applyStatus(
  client: Client & { readonly live?: Client },
  { object, applied: first, toApply }: StatusToApply,
  { type, fieldManager, signal }: PatchStatusOptions,
): Promise<KubernetesObject> {
  const options = { fieldManager, subresource: 'status', force: true, signal };
  const { apiVersion, kind, metadata } = first.object;
  let [read, applied] = [object, first];
  for (let attempt = 1; ; attempt++) {
    const refusal = refusalOf(type, read, statusAfter(read, applied.object.status, fieldManager));
    try {
      if (refusal !== undefined) throw refusal;
      return (await client.apply<KubernetesObject>(applied.object, options)).object;
    } catch (error) {
      // From the second attempt on, the object comes from the server.
      const mayPass =
        refusal === undefined ? isConflict(error) && !applied.isOfVersion : attempt === 1;
      if (!mayPass || attempt >= maxApplies) throw error;
      const ofKind = { apiVersion, kind };
      const now = await getIfExists(client.live ?? client, ofKind, keyOf(first.object), { signal });
      if (now === undefined || now.metadata.uid !== metadata.uid) throw error;
      const next = toApply(now);
      if (next === undefined) return now;
      [read, applied] = [now, next];
    }
  }
}

/**
 * Checks a status by the schema of its kind, if that is a resource of `defineResource` or a version of one.
 * @param status - undefined if only the server can merge it
 * @returns `Terminal`, with the cause `InvalidObject`; undefined if the schema allows the status
 */
function refusalOf(
  type: TypeReference<KubernetesObject> | undefined,
  object: KubernetesObject,
  status: unknown,
): OperatorError | undefined {
  // Not instanceof: the resource may come from another copy of the package.
  const resource = (type ?? {}) as Partial<CustomResource<KubernetesObject, never>>;
  if (typeof resource.statusProblem !== 'function' || !isJsonObject(status)) return undefined;
  const what = `status of ${describeObject(object)}`;
  const { status: old } = object as { readonly status?: unknown };
  const version = versionOf(object.apiVersion);
  const problem = resource.statusProblem(jsonCopy(status, what), old, version);
  if (problem === undefined) return undefined;
  const remedy = 'correct the fields that are set, or the schema of the status';
  const message = `${what} is invalid: ${problem}; ${remedy}`;
  return new OperatorError('Terminal', message, {
    cause: new OperatorError('InvalidObject', message),
  });
}

/** Returns the status of a merge patch for `update`; undefined if conditions and fields are as wanted. */
export function statusToMerge(
  object: KubernetesObject,
  { conditions = [], fields = {} }: StatusUpdate,
  clock: Clock,
): object | undefined {
  const live = statusOf(object);
  const next = desiredConditions(live.conditions, live.conditions, { conditions }, clock);
  // A changed generation alone causes no write, because a schema may lack the field.
  const others = Object.entries(fields).filter(([name]) => name !== 'observedGeneration');
  const isSame = others.every(([name, value]) => deepEqual(value, live.fields[name]));
  return isSame && next === live.conditions ? undefined : { ...fields, conditions: next };
}

/** Returns true if the status of `object` contains all of `status`. */
export function showsStatus(object: KubernetesObject, status: object): boolean {
  const live = statusOf(object);
  const { fields, conditions } = statusOf({ ...object, status } as KubernetesObject);
  return (
    Object.entries(fields).every(([name, value]) => deepEqual(value, live.fields[name])) &&
    conditions.every((each) => deepEqual(each, findCondition(live.conditions, each.type)))
  );
}

/** Returns true if the conditions are a plain list for the server, with one owner as a whole. */
export function hasAtomicConditions(object: KubernetesObject): boolean {
  if (statusConditions(object).length === 0) return false;
  const [status, conditions] = [fieldElement('status'), fieldElement('conditions')];
  const sets = (object.metadata.managedFields ?? [])
    .map(({ fieldsV1 = {} }) => FieldSet.fromFieldsV1(fieldsV1).below(status))
    .filter((set) => set.has([conditions]) || !set.below(conditions).isEmpty);
  return sets.length > 0 && sets.every((set) => set.below(conditions).isEmpty);
}

/** Returns the conditions in the status of an object; empty if `conditions` is not a list. */
export function statusConditions(object: KubernetesObject): readonly Condition[] {
  return statusOf(object).conditions;
}

/**
 * Returns the status that the server stores when `manager` applies `applied`, without defaults. Returns undefined if
 * others own fields of the status besides conditions: how these are merged depends on the schema of the server.
 */
export function statusAfter(
  object: KubernetesObject,
  applied: object,
  manager: string,
): object | undefined {
  if (othersOwnFields(object, manager)) return undefined;
  const owned = ownedStatus(object, manager);
  const live = statusOf(object);
  const next = statusOf({ ...object, status: applied } as KubernetesObject);
  const isKept = ({ type }: Condition): boolean =>
    !owned.conditions.has(type) && findCondition(next.conditions, type) === undefined;
  const conditions = [...live.conditions.filter(isKept), ...next.conditions];
  return {
    ...omit(live.fields, [...owned.fields]),
    ...next.fields,
    ...(conditions.length > 0 && { conditions }),
  };
}

function othersOwnFields({ metadata }: KubernetesObject, manager: string): boolean {
  const [status, conditions] = [fieldElement('status'), fieldElement('conditions')];
  return (metadata.managedFields ?? []).some((entry) => {
    const { fieldsV1 = {}, operation, subresource } = entry;
    const isOwn = entry.manager === manager && operation === 'Apply' && subresource === 'status';
    const fields = isOwn ? FieldSet.empty : FieldSet.fromFieldsV1(fieldsV1).below(status);
    return fields.paths().some(([first]) => first !== conditions);
  });
}

interface LiveStatus {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly conditions: readonly Condition[];
}

function statusOf(object: KubernetesObject): LiveStatus {
  const { status } = object as { readonly status?: unknown };
  const { conditions, ...fields } = isJsonObject(status) ? status : {};
  return { fields, conditions: Array.isArray(conditions) ? (conditions as Condition[]) : [] };
}

/** The field names and the condition types that a manager has applied. */
interface OwnedStatus {
  readonly fields: ReadonlySet<string>;
  readonly conditions: ReadonlySet<string>;
}

function ownedStatus(object: KubernetesObject, manager: string): OwnedStatus {
  const set = appliedFields(object, manager, { subresource: 'status' });
  const status = set?.below(fieldElement('status'));
  const { fields, conditions } = statusOf(object);
  const isOwned = (element: Parameters<FieldSet['below']>[0], among = status): boolean =>
    among !== undefined && (among.has([element]) || !among.below(element).isEmpty);
  const list = status?.below(fieldElement('conditions'));
  const names = Object.keys(fields).filter((name) => isOwned(fieldElement(name)));
  const types = conditions
    .map(({ type }) => type)
    .filter((type) => isOwned(keyElement({ type }), list));
  return { fields: new Set(names), conditions: new Set(types) };
}

function desiredConditions(
  base: readonly Condition[],
  live: readonly Condition[],
  { conditions = [] }: StatusUpdate,
  clock: Clock,
): readonly Condition[] {
  return conditions.reduce((list: readonly Condition[], update) => {
    const current = findCondition(live, update.type);
    const known = current === undefined || findCondition(list, update.type) !== undefined;
    return setCondition(known ? list : [...list, current], update, clock);
  }, base);
}

function pick(
  fields: Readonly<Record<string, unknown>>,
  names: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.has(name)));
}

/** A status for {@link mergeStatus} to write. */
export interface StatusMerge<T extends KubernetesObject> {
  readonly type: TypeReference<T>;
  /** Returns the merge patch for the current object; undefined if there is nothing to write. */
  readonly patch: (object: T) => object | undefined;
  /**
   * Returns whether the status may be written to an object that has changed since it was read.
   * @defaultValue always true
   */
  readonly stands?: ((now: T) => boolean) | undefined;
  /** The subresource to write. @defaultValue none: the status is written with the object */
  readonly subresource?: string | undefined;
}

const maxAttempts = 3;

/**
 * Writes a status by a merge patch, guarded by the uid and the resourceVersion of the object. After a
 * conflict, and before a status is refused by its schema, it reads the object from the server. It retries if neither
 * the spec nor the deletion has changed.
 * @returns the current object; the object last read if nothing was sent or another object has its name
 * @throws ApiError 409: the spec changed, the status no longer holds, or too many attempts failed; else the
 * server's error.
 * @throws OperatorError `Terminal`: the schema of the type refuses the status; its cause is `InvalidObject`.
 */
export async function mergeStatus<T extends KubernetesObject>(
  object: T,
  { type, patch, stands = () => true, subresource }: StatusMerge<T>,
  calls: { readonly client: Client & { readonly live?: Client }; readonly signal: AbortSignal },
): Promise<T> {
  const { client, signal } = calls;
  const options = { ...(subresource !== undefined && { subresource }), signal };
  let current = object;
  for (let attempt = 1; ; attempt++) {
    const changes = patch(current) as { readonly metadata?: object } | undefined;
    if (changes === undefined) return current;
    const { uid, resourceVersion } = current.metadata;
    const body = { ...changes, metadata: { ...changes.metadata, uid, resourceVersion } };
    const { status } = applyMergePatch(current, changes) as { readonly status?: unknown };
    const refusal = refusalOf(type, current, status);
    try {
      if (refusal !== undefined) throw refusal;
      return await client.patch(type, keyOf(object), { type: 'merge', body }, options);
    } catch (error) {
      // From the second attempt on, the object comes from the server.
      const mayPass = refusal === undefined ? isConflict(error) : attempt === 1;
      if (!mayPass || attempt >= maxAttempts) throw error;
      const now = await getIfExists(client.live ?? client, type, keyOf(object), { signal });
      if (now?.metadata.uid !== object.metadata.uid || now === undefined) return current;
      // If `now` has the resourceVersion of `current`, they differ only in what the cache has dropped.
      const isChanged = now.metadata.resourceVersion !== resourceVersion;
      if (isChanged && (!isSameRequest(object, now) || !stands(now))) throw error;
      current = now;
    }
  }
}

/** Returns true if neither the spec nor the deletion differs, so that a reconcile would act the same. */
function isSameRequest(one: KubernetesObject, other: KubernetesObject): boolean {
  const requestOf = ({ metadata, ...rest }: KubernetesObject): object => ({
    ...omit(rest, 'status'),
    deleted: metadata.deletionTimestamp,
  });
  return deepEqual(requestOf(one), requestOf(other));
}
