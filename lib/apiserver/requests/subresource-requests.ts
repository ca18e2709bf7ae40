import type { TransportResponse } from '../../system/transport.js';
import { subjectOf } from '../kinds/served-kind.js';
import { represent } from '../reads/representation.js';
import { findObject } from '../server-core.js';
import { methodNotAllowed, notFound, unknownResource } from '../status-error.js';
import type { ResourceContext } from './resource-handler.js';
import { jsonResponse } from './responses.js';
import { handleScale } from './scale-requests.js';
import { handlePatch, handleUpdate } from './write-requests.js';

/** Answers a request for a subresource. */
export function handleSubresource(context: ResourceContext): TransportResponse {
  const { kind, info } = context;
  const subresource = kind.subresources.get(info.subresource ?? '');
  if (subresource === undefined) throw unknownResource();
  if (!subresource.verbs.includes(info.verb)) throw methodNotAllowed();
  if (subresource.name === 'status') return handleStatus(context);
  if (subresource.name === 'scale') return handleScale(context);
  throw methodNotAllowed();
}

function handleStatus(context: ResourceContext): TransportResponse {
  const { core, kind, info, view } = context;
  if (info.verb === 'update') return handleUpdate(context);
  if (info.verb === 'patch') return handlePatch(context);
  const object = findObject(core, kind, info);
  if (object === undefined) throw notFound(subjectOf(kind, info.name));
  return jsonResponse(200, represent(view, object));
}
