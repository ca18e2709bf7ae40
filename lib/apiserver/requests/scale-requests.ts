import { isJsonObject } from '../../object/json.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { TransportResponse } from '../../system/transport.js';
import { subjectOf } from '../kinds/served-kind.js';
import { findObject } from '../server-core.js';
import { badRequest, notFound } from '../status-error.js';
import { checkName } from '../writes/check-name.js';
import { decodeObject, decodePatched } from '../writes/decode-object.js';
import { patchObject } from '../writes/patch-object.js';
import { applyScale, liveScale, scaleKind, scaleOf, updateScale } from '../writes/scale.js';
import type { ScaleWrite } from '../writes/scale.js';
import { bodyText, parseJson, parseYaml, readObject, refusePatch } from './body.js';
import { patchTypeOf } from './patch-type.js';
import type { ResourceContext } from './resource-handler.js';
import { jsonResponse } from './responses.js';
import { admitSubresource } from './request-hooks.js';
import type { WriteOptions } from './write-options.js';
import type { WriteRequest } from '../writes/write-request.js';
import { readWriteOptions } from './write-options.js';
import { writeOf } from './write-requests.js';

/** Handles a request for the scale subresource. */
export function handleScale(context: ResourceContext): TransportResponse {
  const { core, kind, info } = context;
  const live = findObject(core, kind, info);
  if (live === undefined) throw notFound(subjectOf(kind, info.name));
  if (info.verb === 'get') return jsonResponse(200, scaleOf(kind, live));
  const scale = info.verb === 'update' ? replace(context, live) : patch(context, live);
  return jsonResponse(200, scale);
}

function replace(context: ResourceContext, live: UnstructuredObject): UnstructuredObject {
  const { core, kind, info, request } = context;
  const write = scaleWriteOf(context, readWriteOptions(info.query, 'UpdateOptions'));
  const next = decodeObject({ ...write, kind: scaleKind(kind) }, readObject(request, 'Scale'));
  checkName(info.name, next.metadata);
  const admitted = admitScale(context, { request: write, live }, next);
  return updateScale(core, { request: write, live }, admitted);
}

function patch(context: ResourceContext, live: UnstructuredObject): UnstructuredObject {
  const { core, kind, info, request } = context;
  const type = patchTypeOf(request, kind);
  const options = readWriteOptions(info.query, 'PatchOptions', type === 'apply');
  const asked = scaleWriteOf(context, options);
  const write: ScaleWrite = { request: asked, live };
  const ofScale = scaleKind(kind);
  if (type === 'apply') {
    const { value } = parseYaml(bodyText(request), refusePatch);
    if (!isJsonObject(value)) throw badRequest('error decoding YAML: want an object');
    const applied = admitScale(context, write, value as UnstructuredObject);
    return applyScale(core, write, { applied, force: options.force });
  }
  const { value, duplicates } = parseJson(bodyText(request), refusePatch);
  const patched = patchObject(ofScale, liveScale(write), { type, value, duplicates });
  const next = decodePatched({ ...asked, kind: ofScale }, patched);
  checkName(info.name, next.metadata);
  return updateScale(core, write, admitScale(context, write, next));
}

/** Returns a write without hooks: webhooks receive the Scale, not its parent. */
function scaleWriteOf(context: ResourceContext, options: WriteOptions): WriteRequest {
  return { ...writeOf(context, options), hooks: undefined };
}

function admitScale(
  context: ResourceContext,
  write: ScaleWrite,
  object: UnstructuredObject,
): UnstructuredObject {
  const { dryRun } = write.request;
  const objectKind = scaleKind(context.kind);
  return admitSubresource(context, { objectKind, object, old: liveScale(write), dryRun });
}
