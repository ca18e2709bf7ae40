import { isJsonObject, apiVersionOf, deepEqual, sameMembers } from '../../object/index.js';
import type { ListMeta, UnstructuredObject } from '../../object/index.js';
import type { TransportResponse } from '../../system/index.js';
import { subjectOf } from '../kinds/served-kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { listObjects } from '../reads/list-objects.js';
import { protobufMediaType } from '../protobuf/objects.js';
import { represent, representList } from '../reads/representation.js';
import type { View } from '../reads/representation.js';
import { readListOptions, readSelection } from '../reads/selection.js';
import { dryRunCore, findObject, rulingKind } from '../server-core.js';
import type { ServerCore } from '../server-core.js';
import { badRequest, conflict, isStatusError, notFound } from '../status-error.js';
import type { StatusError } from '../status-error.js';
import { createObject } from '../writes/create-object.js';
import { deleteObject, readDeleteOptions } from '../writes/delete-object.js';
import type { DeleteOptions, DeletionResult } from '../writes/delete-object.js';
import { applyFields, isSameButManagers, trackUpdate } from '../writes/managed-fields.js';
import { patchObject, patchedText } from '../writes/patch-object.js';
import { updateObject } from '../writes/update-object.js';
import {
  checkName,
  decodeApplied,
  decodeObject,
  decodePatched,
  dropRepeatedOwners,
} from '../writes/write-request.js';
import type { WriteHooks, WriteRequest, WriteResult } from '../writes/write-request.js';
import {
  bodyText,
  objectResponse,
  objectOf,
  parseJson,
  parseYaml,
  checkRepeatedKeys,
  readObject,
  readObjectBody,
  refusePatch,
} from './body.js';
import { requestHooks } from './request-admission.js';
import type { ResourceContext } from './resource-handler.js';
import {
  managerOfUserAgent,
  patchTypeOf,
  readWriteOptions,
  reviewedOptions,
} from './write-options.js';
import type { WriteOptions } from './write-options.js';

/** @param objectKind - the kind of the written objects, if it differs from the kind of the request */
export function writeOf(
  context: ResourceContext,
  options: WriteOptions,
  objectKind?: ServedKind,
): WriteRequest {
  const { kind, info, request, user, warn } = context;
  const { fieldManager, dryRun, fieldValidation } = options;
  return {
    kind,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    manager: fieldManager || managerOfUserAgent(request.headers['user-agent'] ?? ''),
    dryRun,
    fieldValidation,
    bytes: request.body?.length,
    warn,
    user,
    hooks: requestHooks(context, {
      ...{ dryRun, objectKind },
      options: reviewedOptions(info.query, options),
    }),
  };
}

/** Returns the server core for a write. The rules of kinds read from the core whether the write is a dry run. */
function coreOf({ core }: ResourceContext, { dryRun }: WriteRequest): ServerCore {
  return dryRun ? dryRunCore(core) : core;
}

function answer({ view }: ResourceContext, { object, created }: WriteResult): TransportResponse {
  return objectResponse(created ? 201 : 200, represent(view, object), view.encoding);
}

/** Handles POST to a collection. */
export function handleCreate(context: ResourceContext): TransportResponse {
  const write = writeOf(context, readWriteOptions(context.info.query, 'CreateOptions'));
  const object = decodeObject(write, readObject(context.request, context.kind.type.kind));
  const { review } = context.kind.rules;
  if (review !== undefined) {
    const { user, authorizer, core, info } = context;
    const { access } = core;
    const { namespace } = info;
    if (namespace !== '') object.metadata.namespace ??= namespace;
    const asked = trackUpdate(core, write, undefined, object);
    const now = core.clock.now();
    const reviewed = review(asked, { user, authorizer, access, namespace, now });
    return objectResponse(201, reviewed, context.view.encoding);
  }
  return answer(context, createObject(coreOf(context, write), { request: write, object }));
}

/** Handles PUT to an object or its status. */
export function handleUpdate(context: ResourceContext): TransportResponse {
  const { core, kind, info, request } = context;
  const write = writeOf(context, readWriteOptions(info.query, 'UpdateOptions'));
  const next = decodeObject(write, readObject(request, kind.type.kind));
  checkName(info.name, next.metadata);
  dropRepeatedOwners(next, write.warn);
  const live = findObject(core, kind, info);
  if (live === undefined) {
    if (kind.rules.createOnUpdate !== true || info.subresource !== undefined) {
      throw notFound(subjectOf(kind, info.name));
    }
    checkUid(context, write, { given: next.metadata.uid, live: '' });
    return answer(context, createObject(coreOf(context, write), { request: write, object: next }));
  }
  checkUid(context, write, { given: next.metadata.uid, live: live.metadata.uid ?? '' });
  return answer(context, updateObject(coreOf(context, write), { request: write, live, next }));
}

/** Checks the uid of a PUT: it is a precondition, which the real server's storage checks. */
function checkUid(
  { kind, info }: ResourceContext,
  { dryRun }: WriteRequest,
  { given = '', live }: { readonly given: string | undefined; readonly live: string },
): void {
  if (given === '' || given === live) return;
  throw failedPrecondition(kind, info, { field: 'UID', given, found: live, dryRun });
}

/** A precondition that does not hold. */
interface FailedPrecondition {
  readonly field: 'UID' | 'ResourceVersion';
  readonly given: string;
  readonly found: string;
  readonly dryRun: boolean;
}

/** Returns the error of the real server's storage for an object with another uid or version than a write expects. */
export function failedPrecondition(
  kind: ServedKind,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { field, given, found, dryRun }: FailedPrecondition,
): StatusError {
  const key = [storedFolder(kind), namespace, name].filter((part) => part !== '').join('/');
  // A dry run does not reach the storage, which adds the prefix.
  const prefix = dryRun ? '' : '/registry';
  const why = `Precondition failed: ${field} in precondition: ${given}, ${field} in object meta: ${found}`;
  return conflict(
    subjectOf(kind, name),
    `StorageError: invalid object, Code: 4, Key: ${prefix}/${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
  );
}

/**
 * Returns where the real server's etcd keeps a kind: the path of a built-in kind has no group, and a few kinds have an
 * old name there.
 */
function storedFolder({ custom, collection, type }: ResourceContext['kind']): string {
  const inherited = ['apiextensions.k8s.io', 'apiregistration.k8s.io'].includes(type.group);
  if (custom !== undefined || inherited) return collection;
  return oldFolders[type.plural] ?? type.plural;
}

const oldFolders: Readonly<Partial<Record<string, string>>> = {
  services: 'services/specs',
  endpoints: 'services/endpoints',
  replicationcontrollers: 'controllers',
  nodes: 'minions',
  ingresses: 'ingress',
};

/** Handles PATCH of an object or its status. */
export function handlePatch(context: ResourceContext): TransportResponse {
  const { core, kind, info, request } = context;
  const type = patchTypeOf(request, kind);
  const write = writeOf(context, readWriteOptions(info.query, 'PatchOptions', type === 'apply'));
  if (type === 'apply') return answer(context, applyObject(context, write));
  const live = findObject(core, kind, info);
  if (live === undefined) throw notFound(subjectOf(kind, info.name));
  const refuse = type === 'strategic' ? badRequest : refusePatch;
  const { value, duplicates } = parseJson(bodyText(request), refuse);
  const patch = { type, value, duplicates };
  const patched = patchObject(kind, live, patch);
  const next = decodePatched(write, patched, () => patchedText(kind, live, patch));
  return answer(context, updateObject(coreOf(context, write), { request: write, live, next }));
}

function applyObject(context: ResourceContext, write: WriteRequest): WriteResult {
  const { core, kind, info, request } = context;
  const { force } = readWriteOptions(info.query, 'PatchOptions', true);
  const body = parseYaml(bodyText(request), refusePatch);
  const applied = appliedObject(kind, body.value);
  const live = findObject(core, kind, info);
  if (live === undefined) checkMissing(context, applied.metadata.uid);
  const merged = applyFields(core, { write, applied, force }, live);
  const next = decodeApplied(write, merged, applied);
  checkRepeatedKeys(body, write);
  checkName(info.name, next.metadata);
  const hasNewContent = isChangedByDecoding(write, merged, next);
  const storesEmpty = hasNewContent || hasEmptyMetadata(write, merged);
  if (live !== undefined) {
    // The real server fills in defaults only if the apply changes more than `managedFields` and the annotation of
    // `kubectl`.
    const withoutDefaults = isSameButManagers(merged, live);
    const how = { tracked: true, withoutDefaults, storesEmpty, hasNewContent };
    const emptyMetadata = emptyMetadataOf(write, merged);
    return updateObject(coreOf(context, write), {
      request: write,
      live,
      next,
      emptyMetadata,
      ...how,
    });
  }
  delete next.metadata.resourceVersion;
  return createObject(coreOf(context, write), {
    request: write,
    object: next,
    tracked: true,
    storesEmpty,
  });
}

/**
 * Returns whether an apply leaves an empty list or map in the metadata of a custom resource. A real server stores the
 * empty member but drops it in reads and conversions, so each such apply is a change.
 */
function hasEmptyMetadata(
  { kind: { custom, isStorageVersion }, subresource }: WriteRequest,
  { metadata }: UnstructuredObject,
): boolean {
  if (custom === undefined || !isStorageVersion || subresource !== undefined) return false;
  const { labels, annotations, finalizers, ownerReferences } = metadata;
  const members: readonly unknown[] = [labels, annotations, finalizers, ownerReferences];
  // A merge leaves null in place of a list or map that has become empty.
  return members.some(
    (member) => member === null || (typeof member === 'object' && Object.keys(member).length === 0),
  );
}

/** Returns the empty metadata that an apply leaves in a custom resource. Go's setters drop other empty members. */
function emptyMetadataOf(
  { kind: { custom } }: WriteRequest,
  { metadata }: UnstructuredObject,
): Readonly<Record<string, unknown>> {
  if (custom === undefined) return {};
  const { labels, annotations, ownerReferences } = metadata;
  const isEmpty = (member: unknown): boolean =>
    member === null || (isJsonObject(member) && Object.keys(member).length === 0);
  return {
    ...(isEmpty(labels) && { labels }),
    ...(isEmpty(annotations) && { annotations }),
    // A merge leaves null in place of a list that has become empty.
    ...(Array.isArray(ownerReferences) && ownerReferences.length === 0 && { ownerReferences }),
  };
}

/**
 * Returns whether decoding changes the result of an apply to a custom resource, outside of its own metadata. Decoding
 * an embedded object drops empty members of its metadata, and normalizes its times. A real server stores the undecoded
 * form, so each such apply is a change and increases the generation.
 * @param decoded - the form that reads show of `merged`
 */
function isChangedByDecoding(
  { kind: { custom, isStorageVersion }, subresource }: WriteRequest,
  merged: UnstructuredObject,
  decoded: UnstructuredObject,
): boolean {
  if (custom === undefined || !isStorageVersion) return false;
  if (subresource !== undefined) return !deepEqual(merged['status'], decoded['status']);
  return !sameMembers(merged, decoded, ['metadata', ...(custom.hasStatus ? ['status'] : [])]);
}

/** Returns the body of an apply without decoding: decoding would turn absent fields into empty ones. */
function appliedObject({ type }: ServedKind, value: unknown): UnstructuredObject {
  if (!isJsonObject(value)) throw badRequest('error decoding YAML: want an object');
  const { apiVersion = '', kind = '', metadata } = value;
  if (apiVersion !== apiVersionOf(type) || kind !== type.kind) {
    const version = typeof apiVersion === 'string' ? apiVersion : '';
    const shown = version.includes('/') ? version : `/${version}`;
    throw badRequest(`invalid object type: ${shown}, Kind=${typeof kind === 'string' ? kind : ''}`);
  }
  return { ...value, apiVersion, kind, metadata: isJsonObject(metadata) ? metadata : {} };
}

function checkMissing({ kind, info }: ResourceContext, uid = ''): void {
  if (info.subresource !== undefined) throw notFound(subjectOf(kind, info.name));
  if (uid === '') return;
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  throw conflict(subjectOf(kind, info.name), why);
}

/** Handles DELETE of an object. */
export function handleDelete(context: ResourceContext): TransportResponse {
  const { core, kind, info, view } = context;
  const { namespace, name, query } = info;
  const options = readDeleteOptions(optionsBody(context), query);
  warnOfOrphans(context, options);
  const hooks = deleteHooks(context, options);
  const result = deleteObject(core, { kind, namespace, name, options, hooks });
  const answersObject = !result.removed || rulingKind(core, kind).rules.answersDeleted === true;
  const answered = answersObject ? represent(view, result.object) : successOf(context, result);
  // The real server answers 202 only if the client requests a cascading deletion by the older option.
  const isAccepted = options.orphanDependents === false && !result.removed;
  return objectResponse(isAccepted ? 202 : 200, answered, view.encoding);
}

/** Warns that dependents stay, for kinds with such a warning, if the caller chose no propagation policy. */
function warnOfOrphans({ kind, warn }: ResourceContext, options: DeleteOptions): void {
  const { orphanWarning } = kind.rules;
  const { propagationPolicy, orphanDependents } = options;
  const isChosen = propagationPolicy !== undefined || orphanDependents !== undefined;
  if (orphanWarning !== undefined && !isChosen) warn(orphanWarning);
}

function deleteHooks(context: ResourceContext, options: DeleteOptions): WriteHooks | undefined {
  const { dryRun, ...shown } = options;
  return requestHooks(context, { dryRun, options: { ...shown } });
}

function optionsBody({ request }: ResourceContext): unknown {
  if (bodyText(request) === '') return undefined;
  const body = objectOf(readObjectBody(request, refuseOptions), refuseOptions);
  const { kind = 'DeleteOptions', apiVersion = 'meta.k8s.io/v1' } = body;
  if (kind === 'DeleteOptions') return body;
  throw badRequest(
    `no kind "${String(kind)}" is registered for version "${String(apiVersion)}" in scheme "pkg/runtime/scheme.go:111"`,
  );
}

function refuseOptions(problem: string): StatusError {
  return badRequest(`couldn't get version/kind; json parse error: ${problem}`);
}

function successOf({ kind }: ResourceContext, { object }: DeletionResult): object {
  const { group, plural } = kind.type;
  const { name, uid } = object.metadata;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...(group === '' ? {} : { group }), kind: plural, uid },
  };
}

/** Handles DELETE of a collection. Each object is deleted separately; objects that are already gone are skipped. */
export function handleDeleteCollection(context: ResourceContext): TransportResponse {
  const { core, kind, info, view } = context;
  const selection = readSelection(kind, info);
  const options = readDeleteOptions(optionsBody(context), info.query);
  warnOfOrphans(context, options);
  const { outside } = core;
  const listed = outside.once('list', () =>
    listObjects(core, kind, { selection, options: readListOptions(info.query) }),
  );
  if (!selection.converts) kind.conversions?.prepare(listed.items);
  const items: UnstructuredObject[] = [];
  for (const item of listed.items) {
    const { namespace = '', name = '' } = item.metadata;
    try {
      const named = { ...context, info: { ...info, namespace, name } };
      const hooks = deleteHooks(named, options);
      // A repeated run of this handler must not repeat deletes that are already done.
      outside.once(`delete ${namespace}/${name}`, () =>
        deleteObject(core, { kind, namespace, name, options, hooks }),
      );
      items.push(item);
    } catch (error) {
      if (!isStatusError(error) || error.reason !== 'NotFound') throw error;
    }
  }
  return listResponse(view, listed.metadata, items);
}

/** Returns a response with a list of stored objects, in pieces. */
export function listResponse(
  view: View,
  metadata: ListMeta,
  items: readonly UnstructuredObject[],
): TransportResponse {
  if (view.encoding === 'yaml') {
    const text = [...representList(view, metadata, items)].join('');
    return objectResponse(200, JSON.parse(text), 'yaml');
  }
  const type = view.encoding === 'json' ? 'application/json' : protobufMediaType;
  const body = encoded(representList(view, metadata, items));
  return { status: 200, headers: { 'content-type': type }, body };
}

async function* encoded(pieces: Iterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (const piece of pieces) yield typeof piece === 'string' ? encoder.encode(piece) : piece;
}
