import {
  fieldPath,
  isJsonObject,
  withMember,
  withoutMembers,
  formatLabelSelector,
  apiVersionOf,
  deepEqual,
} from '../../object/index.js';
import type { ManagedFieldsEntry, ObjectMeta, UnstructuredObject } from '../../object/index.js';
import { subjectOf, subresourceKind } from '../kinds/served-kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ServerCore } from '../server-core.js';
import { badRequest, conflict, internalError, internalFailure, invalid } from '../status-error.js';
import { parentManagedFields, scaleManagedFields } from '../structured-merge/index.js';
import type { ReplicasPaths } from '../structured-merge/index.js';
import { FieldErrors } from '../../crd/internal.js';
import { validateNonnegative } from '../rules/field-values.js';
import { Decoding } from '../go-json/decoding.js';
import { goType } from '../go-json/go-types.js';
import type { ApplyRequest } from './managed-fields.js';
import { applyFields, trackUpdate } from './managed-fields.js';
import { updateObject } from './update-object.js';
import type { WriteHooks, WriteRequest } from './write-request.js';

/** The paths of a kind's replicas fields, as member names. */
interface ScaleMembers {
  readonly replicas: readonly string[];
  readonly observed: readonly string[];
  /** The path of the selector, which is a string or an object. */
  readonly selector: readonly string[] | undefined;
}

function split(path: string): readonly string[] {
  return path.split('.').slice(1);
}

function membersOf({ custom }: ServedKind): ScaleMembers {
  if (custom?.scale === undefined) {
    return {
      replicas: ['spec', 'replicas'],
      observed: ['status', 'replicas'],
      selector: ['spec', 'selector'],
    };
  }
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = custom.scale;
  return {
    replicas: split(specReplicasPath),
    observed: split(statusReplicasPath),
    selector: labelSelectorPath === undefined ? undefined : split(labelSelectorPath),
  };
}

function read(object: unknown, path: readonly string[]): unknown {
  return path.reduce((value, name) => (isJsonObject(value) ? value[name] : undefined), object);
}

function written(object: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  const members = isJsonObject(object) ? object : {};
  return withMember(members, name, written(members[name], rest, value));
}

/**
 * Returns the Scale of an object, without managed fields.
 * @throws StatusError 500: the object has no replicas.
 */
export function scaleOf(kind: ServedKind, object: UnstructuredObject): UnstructuredObject {
  const replicas = read(object, membersOf(kind).replicas);
  if (typeof replicas !== 'number' && kind.custom !== undefined) {
    throw internalError(`the spec replicas field ${pathText(kind)} does not exist`);
  }
  return scaleWith(kind, object, replicas);
}

function pathText({ custom }: ServedKind): string {
  return JSON.stringify(custom?.scale?.specReplicasPath ?? '');
}

function scaleWith(
  kind: ServedKind,
  object: UnstructuredObject,
  replicas: unknown,
): UnstructuredObject {
  const members = membersOf(kind);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = selectorText(kind, members.selector && read(object, members.selector));
  const observed = read(object, members.observed);
  return decodeScale({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas },
    status: { replicas: typeof observed === 'number' ? observed : 0, selector },
  });
}

function selectorText({ type }: ServedKind, selector: unknown): string {
  if (typeof selector === 'string') return selector;
  if (!isJsonObject(selector)) return '';
  // The selector of a ReplicationController is older than label selectors: a map of labels.
  const isOld = type.kind === 'ReplicationController';
  return formatLabelSelector(
    isOld ? { matchLabels: selector as Readonly<Record<string, string>> } : selector,
  );
}

function decodeScale(value: Readonly<Record<string, unknown>>): UnstructuredObject {
  return goType('autoscaling/v1.Scale').decode(value, new Decoding()) as UnstructuredObject;
}

/** Returns the kind of Scales, for decoding bodies of the subresource. */
export function scaleKind(parent: ServedKind): ServedKind {
  return subresourceKind(parent, { group: 'autoscaling', version: 'v1', kind: 'Scale' });
}

export interface ScaleWrite {
  /** The write request for the parent, with the `subresource` `scale` and the hooks of the Scale. */
  readonly request: WriteRequest;
  /** The stored object that the Scale belongs to, in the version of the request. */
  readonly live: UnstructuredObject;
}

/**
 * The replicas that a writer of the Scale sees for a custom resource without replicas, so that 0
 * counts as a change.
 */
const noReplicas = -(2 ** 31);

/**
 * Returns the Scale of the parent as it is before the write, with those managed fields of the parent that concern the
 * replicas.
 */
export function liveScale({ request, live }: ScaleWrite): UnstructuredObject {
  const { kind } = request;
  const found = read(live, membersOf(kind).replicas);
  const isMissing = typeof found !== 'number' && kind.custom !== undefined;
  const scale = scaleWith(kind, live, isMissing ? noReplicas : found);
  const managedFields = scaleManagedFields(live.metadata.managedFields, pathsOf(request.kind));
  if (managedFields === undefined) return scale;
  return { ...scale, metadata: { ...scale.metadata, managedFields } };
}

function pathsOf(kind: ServedKind): ReplicasPaths {
  const { custom } = kind;
  if (custom === undefined) {
    return new Map([[apiVersionOf(kind.type), fieldPath(...membersOf(kind).replicas)]]);
  }
  const paths = [...custom.replicasPaths];
  return new Map(paths.map(([apiVersion, path]) => [apiVersion, fieldPath(...split(path))]));
}

/** Sets the replicas of a parent to those of `next`. @returns the parent's Scale */
export function updateScale(
  core: ServerCore,
  write: ScaleWrite,
  next: UnstructuredObject,
): UnstructuredObject {
  return storeScale(core, write, trackUpdate(core, scaleRequest(write), liveScale(write), next));
}

/** A Scale to apply by server-side apply. */
interface ScaleApply extends Pick<ApplyRequest, 'applied' | 'force'> {
  /** Throws if the merged Scale does not belong to its object. */
  readonly check: (scale: UnstructuredObject) => void;
}

/** Applies a Scale by server-side apply. @returns the parent's Scale */
export function applyScale(
  core: ServerCore,
  write: ScaleWrite,
  { check, ...apply }: ScaleApply,
): UnstructuredObject {
  const live = liveScale(write);
  const { custom } = write.request.kind;
  if (custom !== undefined && isFirstApply(live, apply.applied)) {
    throw internalFailure(
      `failed to create manager for existing fields: failed to convert live object (/; ${notCustom}`,
    );
  }
  const merged = applyFields(core, { write: scaleRequest(write), ...apply }, live);
  if (custom !== undefined && !deepEqual(unmanaged(merged), unmanaged(live))) {
    const { namespace = '', name = '' } = apply.applied.metadata;
    throw internalFailure(`failed to convert new object (${namespace}/${name}; ${notCustom}`);
  }
  const scale = decodeScale(merged);
  check(scale);
  return storeScale(core, write, scale);
}

// The real server handles the Scale of a custom resource like a custom resource, and fails to convert it.
const notCustom =
  'autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1';

function unmanaged(object: UnstructuredObject): UnstructuredObject {
  return { ...object, metadata: withoutMembers(object.metadata, 'managedFields') };
}

function isFirstApply(
  { metadata, apiVersion, kind }: UnstructuredObject,
  applied: UnstructuredObject,
): boolean {
  if (applied.apiVersion !== apiVersion || applied.kind !== kind) return false;
  return (metadata.managedFields ?? []).length === 0;
}

function scaleRequest({ request }: ScaleWrite): WriteRequest {
  return { ...request, kind: scaleKind(request.kind) };
}

/** Removes the time of a scale entry: the real server records none. */
function withoutTime(entry: ManagedFieldsEntry): ManagedFieldsEntry {
  if (entry.subresource !== 'scale') return entry;
  return withoutMembers(entry, 'time');
}

function checkReplicas({ kind, name }: WriteRequest, replicas: number): void {
  if (kind.custom !== undefined) {
    // The validation of the whole object refuses every other invalid number.
    if (replicas !== noReplicas) return;
    throw badRequest(`the spec replicas field ${pathText(kind)} cannot be empty`);
  }
  const errors = new FieldErrors();
  validateNonnegative(replicas, errors.at('spec.replicas'));
  if (!errors.empty) throw invalid({ group: 'autoscaling', kind: 'Scale', name }, errors.causes);
}

function checkUid({ request, live }: ScaleWrite, { metadata }: UnstructuredObject): void {
  const { kind, name } = request;
  const { uid: given = '' } = metadata;
  const { uid: found = '' } = live.metadata;
  // The real server compares no uid of a custom resource.
  if (given === '' || given === found || kind.custom !== undefined) return;
  const subject = { ...subjectOf(kind, name), plural: `${kind.type.plural}/scale` };
  const why = `Precondition failed: UID in precondition: ${given}, UID in object meta: ${found}`;
  throw conflict(subject, why);
}

/**
 * Returns the hooks for the write of the object that the Scale belongs to. Validation gets Scales instead of these
 * objects.
 */
function parentHooks(kind: ServedKind, hooks: WriteHooks): WriteHooks {
  const shown = (parent: UnstructuredObject): UnstructuredObject =>
    scaleWith(kind, parent, read(parent, membersOf(kind).replicas));
  return {
    admit: ({ object }) => object,
    validate: ({ object, old, ...write }) =>
      hooks.validate({ ...write, object: object && shown(object), old: old && shown(old) }),
  };
}

/**
 * Admits a Scale, and stores it in its parent object.
 * @param tracked - the new Scale with its field owners. Admission runs later, so its changes get no owner
 */
function storeScale(
  core: ServerCore,
  write: ScaleWrite,
  tracked: UnstructuredObject,
): UnstructuredObject {
  const { request, live } = write;
  const { kind, hooks } = request;
  const update = { operation: 'UPDATE', object: tracked, old: liveScale(write) } as const;
  const scale = hooks?.admit(update) ?? tracked;
  const replicas = read(scale, ['spec', 'replicas']) ?? 0;
  checkReplicas(request, replicas as number);
  checkUid(write, scale);
  const managedFields = parentManagedFields(scale.metadata.managedFields, {
    entries: live.metadata.managedFields,
    paths: pathsOf(kind),
    apiVersion: apiVersionOf(kind.type),
  });
  const metadata: ObjectMeta = withoutMembers(live.metadata, 'managedFields');
  const { resourceVersion = metadata.resourceVersion ?? '' } = scale.metadata;
  const scaled = written(live, membersOf(kind).replicas, replicas) as UnstructuredObject;
  const next = {
    ...scaled,
    metadata: {
      ...metadata,
      resourceVersion,
      ...(managedFields === undefined ? {} : { managedFields: managedFields.map(withoutTime) }),
    },
  };
  const result = updateObject(core, {
    request: { ...request, subresource: undefined, hooks: hooks && parentHooks(kind, hooks) },
    live,
    next,
    ...{ tracked: true, withoutDefaults: true },
  });
  return scaleOf(kind, result.object);
}
