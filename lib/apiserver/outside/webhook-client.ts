import type { Agent } from 'node:https';
import type { Clock } from '../../system/clock.js';
import type { RequestHandler } from '../http-adapter.js';
import type { PostAnswer } from './https-post.js';
import { webhookFailure } from './webhook-failure.js';

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
  /** PEM in base64; if absent or empty, the authorities of the machine. */
  readonly caBundle?: string | undefined;
}

/** The Services of webhooks, by `namespace/name`: a URL, or a handler in this process. */
export type WebhookServices = Readonly<Record<string, string | RequestHandler>>;

/** The result of a call. */
export type WebhookAnswer =
  | { readonly body: unknown }
  /** The failure, with the real server's message. */
  | { readonly failure: string };

/** A call of a webhook. */
export interface WebhookCall {
  readonly address: WebhookAddress;
  readonly body: unknown;
  /** The time-out in milliseconds, more than 0. */
  readonly timeoutMs: number;
}

/** The connection data of a call. */
interface Target {
  readonly url: URL;
  /** The URL in messages. */
  readonly shown: string;
  readonly servername: string | undefined;
  readonly ca: string | undefined;
}

/** Calls webhooks over HTTPS with keep-alive connections. */
export class WebhookClient {
  readonly #services: WebhookServices;
  readonly #clock: Clock;
  readonly #agents = new Map<string, Agent>();

  constructor(services: WebhookServices, clock: Clock) {
    this.#services = services;
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
    try {
      if (typeof service === 'function') return await inProcess(service, { shown, text });
      const { ca, ...where } = targetOf(address, service, shown);
      const post = await import('./https-post.js');
      const agent = this.#agent(post.newAgent, ca);
      const request = { ...where, agent, text, timeoutMs, clock: this.#clock };
      return readAnswer(await post.httpsPost(request));
    } catch (error) {
      return { failure: `Post ${JSON.stringify(shown)}: ${webhookFailure(error)}` };
    }
  }

  /** Closes all connections. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  #serviceOf({ service }: WebhookAddress): string | RequestHandler | undefined {
    if (service === undefined) return undefined;
    const key = `${service.namespace}/${service.name}`;
    return Object.hasOwn(this.#services, key) ? this.#services[key] : undefined;
  }

  #agent(newAgent: (ca: string | undefined) => Agent, ca: string | undefined): Agent {
    const agent = this.#agents.get(ca ?? '') ?? newAgent(ca);
    this.#agents.set(ca ?? '', agent);
    return agent;
  }
}

/** Returns the URL that the real server would use, for messages. */
function shownUrl({ url, service }: WebhookAddress, timeoutMs: number): string {
  const query = `?timeout=${timeoutMs / 1000}s`;
  if (service === undefined) {
    const { origin, pathname } = new URL(url ?? '');
    return `${origin}${pathname}${query}`;
  }
  const { name, namespace, path = '/', port = 443 } = service;
  return `https://${name}.${namespace}.svc:${port}${path}${query}`;
}

function targetOf(address: WebhookAddress, service: string | undefined, shown: string): Target {
  const bundle = address.caBundle ?? '';
  const ca = bundle === '' ? undefined : Buffer.from(bundle, 'base64').toString();
  if (service === undefined || address.service === undefined) {
    return { url: new URL(shown), shown, servername: undefined, ca };
  }
  const { pathname, search } = new URL(shown);
  // The certificate must name the Service, whatever the host.
  const servername = `${address.service.name}.${address.service.namespace}.svc`;
  return { url: new URL(`${pathname}${search}`, service), shown, servername, ca };
}

async function inProcess(
  handler: RequestHandler,
  { shown, text }: { readonly shown: string; readonly text: string },
): Promise<WebhookAnswer> {
  const { pathname, search } = new URL(shown);
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const path = pathname + search;
  const {
    status,
    headers: given,
    body,
  } = await handler({ method: 'POST', path, headers, body: text });
  const decoder = new TextDecoder();
  let answer = '';
  for await (const chunk of body) answer += decoder.decode(chunk, { stream: true });
  return readAnswer({ status, text: answer, type: given['content-type'] ?? '' });
}

function readAnswer({ status, text, type }: PostAnswer): WebhookAnswer {
  if (status < 200 || status > 206) {
    // Messages include only bodies of text types.
    const said = type === '' || type.startsWith('text/') ? text.trim() : 'unknown';
    return { failure: statusMessage(text) ?? statusFailure(status, said) };
  }
  try {
    return { body: JSON.parse(text) as unknown };
  } catch {
    const shown = JSON.stringify(text.slice(0, 1000));
    return {
      failure: `couldn't get version/kind; json parse error: the body is no JSON: ${shown}`,
    };
  }
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

/** Returns the message of a `Status`; undefined if the text is not one. */
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
