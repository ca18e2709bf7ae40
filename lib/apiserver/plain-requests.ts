import type { TransportRequest, TransportResponse } from '../system/transport.js';
import type { DiscoveryHandler } from './discovery/discovery-handler.js';
import { discoveryData } from './kinds/discovery-data.js';
import type { PlainRequest } from './requests/request-info.js';
import { jsonResponse, textResponse } from './requests/responses.js';
import type { ServerCore } from './server-core.js';
import { methodNotAllowed } from './status-error.js';

/** What answers requests for paths that name no resource. */
export interface PlainHandlers {
  readonly core: ServerCore;
  readonly discovery: DiscoveryHandler;
}

/** Answers `/version`, the health checks, discovery and OpenAPI. @throws StatusError */
export function handlePlain(
  { discovery }: PlainHandlers,
  info: PlainRequest,
  request: TransportRequest,
): TransportResponse {
  const [root = ''] = info.segments;
  const accept = request.headers['accept'] ?? '';
  if (info.method !== 'GET') throw methodNotAllowed();
  if (root === 'version') return jsonResponse(200, discoveryData().version);
  if (root === 'healthz' || root === 'livez' || root === 'readyz') {
    return textResponse(200, 'text/plain; charset=utf-8', 'ok');
  }
  const answer = discovery.handle(info, accept);
  return answer ?? textResponse(404, 'text/plain; charset=utf-8', '404 page not found\n');
}
