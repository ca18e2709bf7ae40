import type { TransportResponse } from '../../system/transport.js';
import { subjectOf } from '../kinds/served-kind.js';
import { represent } from '../reads/representation.js';
import { findObject } from '../server-core.js';
import { methodNotAllowed, notFound, unknownResource } from '../status-error.js';
import type { ResourceContext } from './resource-handler.js';
import { jsonResponse } from './responses.js';
import { handleBinding, handleEviction } from './pod-requests.js';
import { handleToken } from './token-requests.js';
import { handleScale } from './scale-requests.js';
import { handlePatch, handleUpdate } from './write-requests.js';

/** Handles a request for a subresource. */
export function handleSubresource(context: ResourceContext): TransportResponse {
  const { kind, info } = context;
  const subresource = kind.subresources.get(info.subresource ?? '');
  if (subresource === undefined) throw unknownResource();
  if (!subresource.verbs.includes(info.verb)) throw methodNotAllowed();
  switch (subresource.name) {
    case 'scale':
      return handleScale(context);
    case 'binding':
      return handleBinding(context);
    case 'eviction':
      return handleEviction(context);
    case 'token':
      return handleToken(context);
    case 'status':
    case 'finalize':
    case 'ephemeralcontainers':
    case 'resize':
      return handleStatus(context);
    default:
      // Logs, exec and proxies need a node, which this server does not have.
      throw methodNotAllowed();
  }
}

function handleStatus(context: ResourceContext): TransportResponse {
  const { core, kind, info, view } = context;
  if (info.verb === 'update') return handleUpdate(context);
  if (info.verb === 'patch') return handlePatch(context);
  const object = findObject(core, kind, info);
  if (object === undefined) throw notFound(subjectOf(kind, info.name));
  return jsonResponse(200, represent(view, object));
}
