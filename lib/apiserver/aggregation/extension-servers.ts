import type { Agent, RequestOptions } from 'node:https';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { V1Service } from '@kubernetes/client-node';
import mapValues from 'lodash/mapValues.js';
import { joinHeaders } from '../../system/index.js';
import type { Clock, TransportRequest, TransportResponse } from '../../system/index.js';
import type { Wire } from '../../object/index.js';
import type { UserInfo } from '../auth/authenticator.js';
import type { RequestHandler } from '../http-adapter.js';
import { bundleText, connectionFailure } from '../outside/connections.js';
import type { Connections } from '../outside/connections.js';
import type { OngoingRequest } from '../outside/ongoing-request.js';
import { textResponse } from '../requests/body.js';
import type { ServerView } from '../rules/kind-rules.js';
import { failure } from '../status-error.js';
import type { ApiService } from './api-services.js';

/** The server of an APIService. */
export interface ExtensionServer {
  /** The host and port that the real server would use, for messages and `X-Forwarded-Host`. */
  readonly host: string;
  /** The URL of the extension server, or a handler in this process; undefined if this server cannot reach it. */
  readonly target: string | RequestHandler | undefined;
  /** True if `target` is from the option `services`. */
  readonly isGiven: boolean;
  readonly service: ApiService;
}

interface ExtensionRequest extends Pick<TransportRequest, 'method'> {
  /** The encoded path without the query. It is sent unchanged, because the caller has authorized this path. */
  readonly path: string;
  /** The encoded query, without the question mark. */
  readonly query?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly user: UserInfo;
  readonly body?: string | Uint8Array | undefined;
}

/**
 * Finds the server of an APIService: the target in the option `services`, else the host of an ExternalName Service. The
 * cluster IP of a Service is not used, because this server has no cluster network.
 */
export function extensionServerOf(
  service: ApiService,
  { view, connections }: { readonly view: ServerView; readonly connections: Connections },
): ExtensionServer {
  const { name = '', namespace = '', port = 443 } = service.spec?.service ?? {};
  const stored = view.find('services', `${namespace}/${name}`) as Wire<V1Service> | undefined;
  const { type = 'ClusterIP', clusterIP = '', externalName = '' } = stored?.spec ?? {};
  const isExternal = type === 'ExternalName';
  const address = isExternal ? externalName : clusterIP;
  const host = `${address === '' ? `${name}.${namespace}.svc` : address}:${port}`;
  const given = connections.target(namespace, name);
  const target = given ?? (isExternal ? `https://${host}` : undefined);
  return { host, target, isGiven: given !== undefined, service };
}

/**
 * Forwards a request to an extension server. Errors have the words of the real server.
 * @throws OperatorError `Aborted`: the caller ended the request.
 * @throws OperatorError `Stopped`: the server stopped first.
 * @throws StatusError 504: the response did not begin in time.
 */
export async function proxyTo(
  server: ExtensionServer,
  { connections, timeLimit }: Proxying,
  { signal, ...request }: ExtensionRequest & Pick<TransportRequest, 'signal'>,
): Promise<TransportResponse> {
  const ongoing = connections.start(signal);
  const late = (): void => ongoing.abort(timedOut());
  const timer = timeLimit?.clock.setTimer(late, timeLimit.timeLimitMs);
  try {
    const { status, headers, body } = await sendTo(server, { connections, ongoing }, request);
    return { status, headers, body: ongoing.read(body) };
  } catch (error) {
    ongoing.end();
    if (ongoing.reason !== undefined) throw ongoing.reason;
    return unavailable(`error trying to reach service: ${failureText(error, server)}`);
  } finally {
    timer?.cancel();
  }
}

/** The connections for a forwarded request, and the time limit of its response. */
interface Proxying {
  readonly connections: Connections;
  /** The time until the response has to begin. @defaultValue unlimited */
  readonly timeLimit?: { readonly clock: Clock; readonly timeLimitMs: number } | undefined;
}

function timedOut(): Error {
  const message = 'Timeout: request did not complete within the allotted timeout';
  return failure(504, 'Timeout', message, {});
}

/** The answer of a server that cannot reach an extension server. */
export function unavailable(message = 'service unavailable'): TransportResponse {
  return textResponse(503, 'text/plain; charset=utf-8', `${message}\n`);
}

/** Returns the real server's text for a failed connection. */
export function failureText(error: unknown, { host }: ExtensionServer): string {
  if (error instanceof NoRoute) return `dial tcp ${host}: connect: no route to host`;
  // Node.js reports an error for each address of a host: return the text for the IPv4 address.
  const { errors } = (error ?? {}) as {
    readonly errors?: readonly { readonly address?: string }[];
  };
  return connectionFailure(errors?.find(({ address = '' }) => address.includes('.')) ?? error);
}

/** The address of an extension server is a cluster IP, which this server cannot reach. */
class NoRoute extends Error {}

/** The connections to other servers, and a request that uses one of them. */
interface Sending {
  readonly connections: Connections;
  readonly ongoing: OngoingRequest;
}

/**
 * Sends a request to an extension server, and waits for the head of its response.
 * @throws the error of the connection, or the reason why the request ended early.
 */
export function sendTo(
  server: ExtensionServer,
  sending: Sending,
  request: ExtensionRequest,
): Promise<TransportResponse> {
  // A handler in this process may ignore the signal.
  return sending.ongoing.race(send(server, sending, request));
}

async function send(
  server: ExtensionServer,
  { connections, ongoing }: Sending,
  request: ExtensionRequest,
): Promise<TransportResponse> {
  const { target } = server;
  if (target === undefined) throw new NoRoute();
  const { method, body, path: pathname, query = '' } = request;
  const { signal } = ongoing;
  const headers = forwarded(server, request);
  const repeated = userHeaders(request.user);
  if (typeof target === 'function') {
    const joined = { ...headers, ...joinHeaders(repeated) };
    const path = query === '' ? pathname : `${pathname}?${query}`;
    const sent = { method, path, headers: joined, repeatedHeaders: repeated };
    return target({ ...sent, ...(body !== undefined && { body }), signal });
  }
  const options = { method, headers: { ...headers, ...inUtf8(repeated) }, signal };
  const agent = await agentOf(server, connections);
  const url = Object.assign(new URL(target), { pathname, search: query });
  const answer = await exchange({ url, options, agent, server }, body);
  const { statusCode: status = 502, headers: given } = answer;
  return { status, headers: withoutHopByHop(joinHeaders(given)), body: answer };
}

async function agentOf({ service }: ExtensionServer, connections: Connections): Promise<Agent> {
  const { caBundle, insecureSkipTLSVerify: insecure } = service.spec ?? {};
  return connections.agent({ ca: bundleText(caBundle), insecure });
}

interface Exchange {
  readonly url: URL;
  readonly options: RequestOptions;
  readonly agent: Agent;
  readonly server: ExtensionServer;
}

async function exchange(
  { url, options, agent, server }: Exchange,
  body: string | Uint8Array | undefined,
): Promise<IncomingMessage> {
  const { request: plainRequest } = await import('node:http');
  const { request: secureRequest } = await import('node:https');
  const { name = '', namespace = '' } = server.service.spec?.service ?? {};
  // The certificate must be valid for the DNS name of the Service, whatever the host of the target is.
  const servername = `${name}.${namespace}.svc`;
  return await new Promise((resolve, reject) => {
    const sent: ClientRequest =
      url.protocol === 'https:'
        ? secureRequest(url, { ...options, agent, servername })
        : plainRequest(url, options);
    sent.on('error', reject);
    sent.once('response', resolve);
    sent.once('upgrade', (_, socket) => {
      socket.destroy();
      reject(new Error('the extension server switched protocols'));
    });
    sent.end(body);
  });
}

/**
 * Headers that are not forwarded: headers that concern one connection only, and headers that this server sets itself.
 */
const ownHeaders =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|authorization|impersonate-.*|x-remote-.*|x-forwarded-.*)$/;

function withoutHopByHop(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const dropped = ['connection', 'keep-alive', 'transfer-encoding'];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.includes(name)));
}

function forwarded(
  { host }: ExtensionServer,
  { headers, body, path }: ExtensionRequest,
): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !ownHeaders.test(name.toLowerCase()));
  return {
    ...Object.fromEntries(kept),
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
    ...{ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-host': host },
    ...{ 'x-forwarded-proto': 'https', 'x-forwarded-uri': path },
  };
}

/**
 * Returns headers that are sent as UTF-8, as Go does. Node.js writes each character of a header as one byte, so each
 * byte of the UTF-8 text becomes a character.
 */
function inUtf8(headers: Readonly<Record<string, string[]>>): Record<string, string[]> {
  return mapValues(headers, (values) =>
    values.map((value) => Buffer.from(value, 'utf8').toString('latin1')),
  );
}

/** Returns the headers that name the user to an extension server. */
function userHeaders({
  username,
  uid = '',
  groups,
  extra = {},
}: UserInfo): Record<string, string[]> {
  const named = Object.entries(extra).map(([key, values]) => {
    const escaped = encodeURIComponent(key).replace(/[()]/g, (sign) =>
      sign === '(' ? '%28' : '%29',
    );
    return [`x-remote-extra-${escaped.toLowerCase()}`, [...values]];
  });
  return {
    'x-remote-user': [username],
    ...(uid !== '' && { 'x-remote-uid': [uid] }),
    ...(groups.length > 0 && { 'x-remote-group': [...groups] }),
    ...(Object.fromEntries(named) as Record<string, string[]>),
  };
}
