import { isJsonObject } from '../../object/json.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { TransportResponse } from '../../system/transport.js';
import { represent } from '../reads/representation.js';
import { findObject } from '../server-core.js';
import { badRequest, conflict, notFound } from '../status-error.js';
import { subjectOf } from '../kinds/served-kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { checkName } from '../writes/check-name.js';
import { createObject } from '../writes/create-object.js';
import { decodeApplied, decodeObject, decodePatched } from '../writes/decode-object.js';
import { applyFields, trackUpdate } from '../writes/managed-fields.js';
import { patchObject } from '../writes/patch-object.js';
import { updateObject } from '../writes/update-object.js';
import type { WriteRequest, WriteResult } from '../writes/write-request.js';
import { bodyText, parseJson, parseYaml, readObject, refusePatch } from './body.js';
import { patchTypeOf } from './patch-type.js';
import type { ResourceContext } from './resource-handler.js';
import { requestHooks } from './request-hooks.js';
import { jsonResponse } from './responses.js';
import { managerOfUserAgent, readWriteOptions } from './write-options.js';
import type { WriteOptions } from './write-options.js';

/** Returns the write of a request. */
export function writeOf(context: ResourceContext, options: WriteOptions): WriteRequest {
  const { kind, info, request, warn } = context;
  const { fieldManager, dryRun, fieldValidation } = options;
  return {
    kind,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    manager: fieldManager || managerOfUserAgent(request.headers['user-agent'] ?? ''),
    dryRun,
    fieldValidation,
    warn,
    hooks: requestHooks(context, {
      dryRun,
      options: {
        ...(fieldManager !== '' && { fieldManager }),
        ...(info.query.has('fieldValidation') && { fieldValidation }),
      },
    }),
  };
}

function answer({ view }: ResourceContext, { object, created }: WriteResult): TransportResponse {
  return jsonResponse(created ? 201 : 200, represent(view, object));
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
    return jsonResponse(201, review(asked, { user, authorizer, access, namespace, now }));
  }
  return answer(context, createObject(context.core, { request: write, object }));
}

/** Handles PUT to an object or its status. */
export function handleUpdate(context: ResourceContext): TransportResponse {
  const { core, kind, info, request } = context;
  const write = writeOf(context, readWriteOptions(info.query, 'UpdateOptions'));
  const next = decodeObject(write, readObject(request, kind.type.kind));
  checkName(info.name, next.metadata);
  const live = findObject(core, kind, info);
  if (live === undefined) {
    if (kind.rules.createOnUpdate !== true || info.subresource !== undefined) {
      throw notFound(subjectOf(kind, info.name));
    }
    return answer(context, createObject(core, { request: write, object: next }));
  }
  checkUid(context, next.metadata.uid, live.metadata.uid ?? '');
  return answer(context, updateObject(core, { request: write, live, next }));
}

/** Checks the uid of a PUT: it is a precondition, which the real server's storage checks. */
function checkUid({ kind, info }: ResourceContext, given = '', live: string): void {
  if (given === '' || given === live) return;
  const { namespace, name } = info;
  const key = ['/registry', kind.collection, namespace, name].filter((part) => part !== '');
  throw conflict(
    subjectOf(kind, name),
    `StorageError: invalid object, Code: 4, Key: ${key.join('/')}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${given}, UID in object meta: ${live}`,
  );
}

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
  const patched = patchObject(kind, live, { type, value, duplicates });
  const next = decodePatched(write, patched);
  return answer(context, updateObject(core, { request: write, live, next }));
}

function applyObject(context: ResourceContext, write: WriteRequest): WriteResult {
  const { core, kind, info, request } = context;
  const { force } = readWriteOptions(info.query, 'PatchOptions', true);
  const applied = appliedObject(kind, parseYaml(bodyText(request), refusePatch).value);
  const live = findObject(core, kind, info);
  if (live === undefined) checkMissing(context, applied.metadata.uid);
  const merged = applyFields(core, { write, applied, force }, live);
  const next = decodeApplied(write, merged);
  checkName(info.name, next.metadata);
  if (live !== undefined) return updateObject(core, { request: write, live, next, tracked: true });
  delete next.metadata.resourceVersion;
  return createObject(core, { request: write, object: next, tracked: true });
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
