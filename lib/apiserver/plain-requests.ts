import type { TransportRequest, TransportResponse } from '../system/index.js';
import type { DiscoveryHandler } from './discovery/discovery.js';
import {
  openApiDocument,
  openApiIndex,
  emptySwaggerProto,
  swaggerDocument,
  swaggerProtoType,
} from './discovery/openapi.js';
import type { OpenApiSource } from './discovery/openapi.js';
import { discoveryData } from './kinds/documents.js';
import type { PlainRequest } from './requests/request-info.js';
import {
  checkAccepted,
  jsonResponse,
  negotiateList,
  pageNotFound,
  textResponse,
} from './requests/body.js';
import { methodNotAllowed } from './status-error.js';

/** The health checks that have a path of their own, such as `/healthz/etcd`. */
const checks = ['etcd', 'informer-sync', 'log', 'ping', 'poststarthook', 'shutdown'];

/** Answers `/version`, the health checks, discovery and OpenAPI. @throws StatusError */
export function handlePlain(
  discovery: DiscoveryHandler,
  info: PlainRequest,
  request: TransportRequest,
): TransportResponse {
  const [root = ''] = info.segments;
  const accept = request.headers['accept'] ?? '';
  if (root === '') return jsonResponse(200, { paths: pathsOf(discovery) });
  // The real server's list of groups ignores the method.
  const isGroups = info.segments.join('/') === 'apis';
  if (info.method !== 'GET' && !isGroups) throw methodNotAllowed();
  if (root === 'version') checkAccepted(accept, ['application/json']);
  if (root === 'version') return jsonResponse(200, discoveryData().version);
  if (healthPaths.includes(root)) {
    const [, check = 'ping'] = info.segments;
    if (!checks.includes(check)) return pageNotFound();
    return textResponse(200, 'text/plain; charset=utf-8', 'ok');
  }
  if (root === 'openapi') {
    const wantsProto = accept.trim().startsWith(swaggerProtoType);
    if (wantsProto && info.segments[1] === 'v2') return swaggerProto();
    return openApi(discovery.openApiSource, info);
  }
  if (isGroups) negotiateList(accept);
  else if (root === 'api' || root === 'apis') checkAccepted(accept);
  const answer = discovery.handle(info, accept);
  return answer ?? pageNotFound();
}

const healthPaths = ['healthz', 'livez', 'readyz'];
const otherPaths = [...healthPaths, 'openapi/v2', 'openapi/v3', 'version'];

/** Returns all paths of the server, except the paths of resources. */
function pathsOf(discovery: DiscoveryHandler): readonly string[] {
  const ofChecks = healthPaths.flatMap((path) => checks.map((check) => `/${path}/${check}`));
  return [...discovery.paths(), ...otherPaths.map((path) => `/${path}`), ...ofChecks].sort();
}

function openApi(source: OpenApiSource, { segments }: PlainRequest): TransportResponse {
  const [, version, ...name] = segments;
  if (version === 'v2' && name.length === 0) return jsonResponse(200, swaggerDocument(source));
  if (version !== 'v3') return pageNotFound();
  if (name.length === 0) return jsonResponse(200, openApiIndex(source));
  const document = openApiDocument(source, name.join('/'));
  if (document !== undefined) return jsonResponse(200, document);
  return { ...textResponse(404, '', ''), headers: {} };
}

function swaggerProto(): TransportResponse {
  // The requested media type contains an `@`, which clients in Go cannot parse.
  return textResponse(200, swaggerProtoType.replace('@', '.'), emptySwaggerProto());
}
