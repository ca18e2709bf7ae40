import type { TransportRequest, TransportResponse } from '../../system/index.js';
import type { UserInfo } from '../auth/authenticator.js';
import { pageNotFound } from '../requests/body.js';
import { forwardedPath } from '../requests/request-info.js';
import type { RequestInfo } from '../requests/request-info.js';
import type { ServerCore } from '../server-core.js';
import { ApiServices, registrationGroup } from './api-services.js';
import type { RegisteredGroup } from './api-services.js';
import { Availability, isAvailable } from './availability.js';
import type { Discovered } from './availability.js';
import { extensionServerOf, proxyTo, unavailable } from './extension-servers.js';

/**
 * Lists the versions of all groups by their APIServices, and forwards requests to extension servers:
 *
 * ```
 *   CRDs ──▶ ApiServices ──▶ discovery: which groups and versions, in which order
 *                 │
 *                 ▼
 *   Services ─▶ Availability ──▶ condition Available, discovery of extension servers
 *                                       │
 *   request ──▶ answer ─────────────────┴──▶ extension server, or 503
 * ```
 */
export class Aggregator {
  readonly #core: ServerCore;
  readonly #services: ApiServices;
  readonly #availability: Availability;

  constructor(core: ServerCore) {
    this.#core = core;
    this.#services = new ApiServices(core);
    this.#availability = new Availability(core, this.#services);
  }

  /** Increases with each change of discovery. */
  get generation(): number {
    return this.#services.generation + this.#availability.generation;
  }

  /** Returns the groups in the order of discovery. */
  groups(): readonly RegisteredGroup[] {
    return this.#services.groups();
  }

  /** Returns the discovery documents of an extension server for a version. `name` is that of the APIService. */
  discovered(name: string): Discovered | undefined {
    return this.#availability.discovered(name);
  }

  /** Returns the answer of an extension server; undefined if this server itself serves the version. */
  answer({ info, request, user, serves }: Asked): Promise<TransportResponse> | undefined {
    const { group, version } = versionOf(info) ?? {};
    if (group === undefined || version === undefined || serves?.(group) === false) return undefined;
    // No APIService may redirect the group of APIServices: users could then no longer remove it.
    if (group === registrationGroup) return undefined;
    const service = this.#services.remote(group, version);
    if (service === undefined) return undefined;
    const path = forwardedPath(request.path);
    if (path === undefined) return Promise.resolve(pageNotFound());
    if (!isAvailable(service)) return Promise.resolve(unavailable());
    const server = extensionServerOf(service, this.#core);
    const query = queryOf(request.path);
    const { connections, clock } = this.#core;
    const isWatch = info.type === 'resource' && info.verb === 'watch';
    const timeLimit = isWatch ? undefined : { clock, timeLimitMs };
    const { method, headers, body, signal } = request;
    const sent = { method, headers, body, path, query, user, ...(signal && { signal }) };
    return proxyTo(server, { connections, timeLimit }, sent);
  }

  /** Ends the checks of extension servers. */
  stop(): void {
    this.#availability.stop();
  }
}

/** Extension servers have to begin their answer within this time, which is the default of the real server. */
const timeLimitMs = 60_000;

/** An authenticated request. */
interface Asked {
  readonly info: RequestInfo;
  readonly request: TransportRequest;
  readonly user: UserInfo;
  /** Returns whether the listener serves a group; undefined: it serves all. */
  readonly serves: ((group: string) => boolean) | undefined;
}

/** Returns the query as Go encodes it: sorted by name. Empty without a query. */
function queryOf(path: string): string {
  const question = path.indexOf('?');
  const query = new URLSearchParams(question < 0 ? '' : path.slice(question + 1));
  query.sort();
  return query.toString();
}

/** Returns the group and version of a request for a resource, for discovery or for an OpenAPI document. */
function versionOf(info: RequestInfo): { group: string; version: string } | undefined {
  if (info.type === 'resource') return info;
  const { segments } = info;
  const isOpenApi = segments[0] === 'openapi' && segments[1] === 'v3';
  const [root, first = '', second] = isOpenApi ? segments.slice(2) : segments;
  if (root === 'api' && first !== '') return { group: '', version: first };
  return root === 'apis' && second !== undefined ? { group: first, version: second } : undefined;
}
