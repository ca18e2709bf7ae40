import type { IncomingMessage } from 'node:http';
import type { Agent } from 'node:https';
import { posix } from 'node:path';
import { isJsonObject } from '../../object/index.js';
import { systemClock } from '../../system/index.js';
import type { Clock, Timer } from '../../system/index.js';
import { jsonTypeName } from '../go-json/decoding.js';
import type { RequestHandler } from '../http-adapter.js';
import { bundleText, connectionFailure, DeadlineExceeded } from './connections.js';
import type { Connections } from './connections.js';

/** The address of a webhook: `clientConfig` of its configuration. */
export interface WebhookAddress {
  readonly url?: string | undefined;
  readonly service?:
    | {
        readonly name: string;
        readonly namespace: string;
        readonly path?: string | undefined;
        readonly port?: number | undefined;
      }
    | undefined;
  /** The trusted authorities: PEM in base64; if absent or empty, those of the machine. */
  readonly caBundle?: string | undefined;
}

/** The result of a call. */
type WebhookAnswer =
  | { readonly body: unknown }
  /** The failure, with the real server's message. */
  | { readonly failure: string };

interface WebhookCall {
  readonly address: WebhookAddress;
  readonly body: unknown;
  /** The time-out in milliseconds, more than 0. */
  readonly timeoutMs: number;
}

/** An admission or conversion review to send. */
interface Post {
  /** The URL as error messages show it. */
  readonly shown: string;
  readonly text: string;
  /** Aborted when the time is over, or when the server stops. */
  readonly signal: AbortSignal;
}

/** The connection data of a call. */
interface Target {
  readonly url: URL;
  readonly servername: string | undefined;
  readonly ca: string | undefined;
}

/**
 * The least real time, in milliseconds, that each webhook has: the shortest `timeoutSeconds`. A virtual clock can pass
 * any time-out before even a quick webhook answers.
 */
const leastTimeMs = 1_000;

/** Calls webhooks over HTTPS with keep-alive connections. */
export class WebhookClient {
  readonly #connections: Connections;
  readonly #clock: Clock;

  constructor(connections: Connections, clock: Clock) {
    this.#connections = connections;
    this.#clock = clock;
  }

  /** Posts a review. Never rejects. */
  async call({ address, body, timeoutMs }: WebhookCall): Promise<WebhookAnswer> {
    const shown = shownUrl(address, timeoutMs);
    const service = this.#serviceOf(address);
    const text = JSON.stringify(body);
    if (address.service !== undefined && service === undefined) {
      const { name } = address.service;
      return {
        failure: `Post ${JSON.stringify(shown)}: service ${JSON.stringify(name)} not found`,
      };
    }
    const ongoing = this.#connections.start();
    const limit = this.#limit(timeoutMs, () => ongoing.abort(new DeadlineExceeded()));
    try {
      const { signal } = ongoing;
      // A handler in this process may ignore the signal.
      return readAnswer(await ongoing.race(this.#post(address, service, { shown, text, signal })));
    } catch (error) {
      const failure = connectionFailure(ongoing.reason ?? error);
      return { failure: `Post ${JSON.stringify(shown)}: ${failure}` };
    } finally {
      limit.cancel();
      ongoing.end();
    }
  }

  /**
   * Calls `onOver` when the time-out has passed on the server's clock and {@link leastTimeMs} have passed in real time.
   */
  #limit(timeoutMs: number, onOver: () => void): Timer {
    const startMs = systemClock.monotonicMs();
    let timer = this.#clock.setTimer(() => {
      const leftMs = leastTimeMs - (systemClock.monotonicMs() - startMs);
      if (leftMs > 0) timer = systemClock.setTimer(onOver, leftMs);
      else onOver();
    }, timeoutMs);
    return { cancel: () => timer.cancel() };
  }

  /** @throws the error of the connection or of the handler. */
  async #post(
    address: WebhookAddress,
    service: string | RequestHandler | undefined,
    post: Post,
  ): Promise<PostAnswer> {
    if (typeof service === 'function') return await inProcess(service, post);
    const { ca, ...where } = targetOf(address, service, post.shown);
    const agent = await this.#connections.agent({ ca });
    return await httpsPost({ ...where, ...post, agent });
  }

  #serviceOf({ service }: WebhookAddress): string | RequestHandler | undefined {
    if (service === undefined) return undefined;
    return this.#connections.target(service.namespace, service.name);
  }
}

/** Returns the URL that the real server would use, for messages. */
function shownUrl({ url, service }: WebhookAddress, timeoutMs: number): string {
  const query = `?timeout=${timeoutMs / 1000}s`;
  if (service === undefined) {
    const { origin, pathname } = new URL(url ?? '');
    return `${origin}${cleanPath(pathname)}${query}`;
  }
  const { name, namespace, path = '/', port = 443 } = service;
  return `https://${name}.${namespace}.svc:${port}${cleanPath(path)}${query}`;
}

/** Cleans a path as the real server does: without empty and relative segments, and without a slash at the end. */
function cleanPath(path: string): string {
  return posix.join('/', path).replace(/(?<=.)\/$/, '');
}

function targetOf(address: WebhookAddress, service: string | undefined, shown: string): Target {
  const ca = bundleText(address.caBundle);
  if (service === undefined || address.service === undefined) {
    return { url: new URL(shown), servername: undefined, ca };
  }
  const { pathname, search } = new URL(shown);
  // The certificate must be valid for the DNS name of the Service, whatever the host of the target is.
  const servername = `${address.service.name}.${address.service.namespace}.svc`;
  return { url: new URL(`${pathname}${search}`, service), servername, ca };
}

async function inProcess(
  handler: RequestHandler,
  { shown, text, signal }: Post,
): Promise<PostAnswer> {
  const { pathname, search } = new URL(shown);
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const path = pathname + search;
  const {
    status,
    headers: given,
    body,
  } = await handler({ method: 'POST', path, headers, body: text, signal });
  const decoder = new TextDecoder();
  let answer = '';
  for await (const chunk of body) answer += decoder.decode(chunk, { stream: true });
  return { status, text: answer, type: given['content-type'] ?? '' };
}

function readAnswer({ status, text, type }: PostAnswer): WebhookAnswer {
  if (status < 200 || status > 206) {
    // Messages include only bodies of text types.
    const said = type === '' || type.startsWith('text/') ? text.trim() : 'unknown';
    return { failure: statusMessage(text) ?? statusFailure(status, said) };
  }
  if (text === '') {
    return { failure: `0-length response with status code: ${status} and content type: ${type}` };
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    const shown = JSON.stringify(text.slice(0, 1000));
    return { failure: `${unparsed}: the body is not JSON: ${shown}` };
  }
  const problem = typeProblem(body);
  return problem === undefined ? { body } : { failure: `${unparsed}: ${problem}` };
}

const unparsed = "couldn't get version/kind; json parse error";

/** Returns why Go cannot read the type of a review. */
function typeProblem(body: unknown): string | undefined {
  const mismatch = (value: unknown, into: string): string =>
    `json: cannot unmarshal ${jsonTypeName(value)} into Go ${into}`;
  if (body === null) return undefined;
  if (!isJsonObject(body)) {
    const members = ['APIVersion', 'Kind'].map((name) => {
      const own = name === 'Kind' ? 'kind' : 'apiVersion';
      return `${name} string ${JSON.stringify(`json:"${own},omitempty"`)}`;
    });
    return mismatch(body, `value of type struct { ${members.join('; ')} }`);
  }
  for (const name of ['apiVersion', 'kind']) {
    const { [name]: value = null } = body;
    if (value === null || typeof value === 'string') continue;
    return mismatch(value, `struct field .${name} of type string`);
  }
  return undefined;
}

const statusTexts: Readonly<Partial<Record<number, string>>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

function statusMessage(text: string): string | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const { kind, status, message } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const failed = kind === 'Status' && status !== 'Success';
    return failed && typeof message === 'string' ? message : undefined;
  } catch {
    // The text is not JSON.
    return undefined;
  }
}

function statusFailure(status: number, said: string): string {
  const known = statusTexts[status];
  if (status === 403) return `forbidden: ${said}`;
  if (known !== undefined) return known;
  if (status >= 500)
    return `an error on the server (${JSON.stringify(said)}) has prevented the request from succeeding`;
  return `the server responded with the status code ${status} but did not return more information`;
}

/** A POST of JSON. */
interface HttpsPost extends Pick<Post, 'text' | 'signal'> {
  readonly url: URL;
  /** The name that the server's certificate must have. @defaultValue the host of the URL */
  readonly servername: string | undefined;
  readonly agent: Agent;
}

/** The response to a POST. */
interface PostAnswer {
  readonly status: number;
  readonly text: string;
  /** The content type; empty if absent. */
  readonly type: string;
}

const answerLimitBytes = 3 * 1024 * 1024;

async function httpsPost(post: HttpsPost): Promise<PostAnswer> {
  const { url, servername, agent, text, signal } = post;
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'kube-apiserver-admission',
    'content-length': Buffer.byteLength(text),
  };
  const secure = url.protocol === 'https:';
  const { request: plainRequest } = await import('node:http');
  const { request: secureRequest } = await import('node:https');
  return await new Promise((resolve, reject) => {
    const options = { method: 'POST', headers, signal };
    const sent = secure
      ? secureRequest(url, { ...options, agent, ...(servername !== undefined && { servername }) })
      : plainRequest(url, options);
    sent.on('error', reject);
    sent.once('response', (answer) => {
      readText(answer).then(
        (read) =>
          resolve({
            status: answer.statusCode ?? 0,
            text: read,
            type: answer.headers['content-type'] ?? '',
          }),
        reject,
      );
    });
    sent.end(text);
  });
}

async function readText(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > answerLimitBytes) throw new Error(`response exceeds ${answerLimitBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
