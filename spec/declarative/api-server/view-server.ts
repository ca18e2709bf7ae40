import { Agent, request } from 'undici';
import { createToken } from '../../../lib/declarative/api-server/tokens.js';
import type { TokenOptions, TokenClaims } from '../../../lib/declarative/api-server/tokens.js';
import { ViewApiServer } from '../../../lib/declarative/api-server/view-api-server.js';
import type { ViewApiServerOptions } from '../../../lib/declarative/api-server/view-api-server.js';
import { Views } from '../../../lib/declarative/views/index.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { createRsaKeys, createSelfSigned } from '../../../lib/system/x509.js';
import type { RsaKeys, CertificateAndKey } from '../../../lib/system/x509.js';
import { seededRandom } from '../../../lib/system/random.js';
import { systemClock } from '../../../lib/system/clock.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

export const group = 'shop.view.dcontroller.io';
export const version = `${group}/v1alpha1`;
/** The collection of `HealthView` in the namespace `n`. */
export const inNamespace = `/apis/${version}/namespaces/n/healthview`;
/** The collection of `HealthView` in all namespaces. */
export const everywhere = `/apis/${version}/healthview`;

/** A response. */
export interface Reply {
  readonly code: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** The body parsed as JSON, unchecked. */
  readonly body: UnstructuredObject & {
    readonly message: string;
    readonly items: UnstructuredObject[];
  };
}

/** A request. */
export interface Question {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The keys of a server over HTTPS. */
export interface ServerKeys {
  readonly tls: CertificateAndKey;
  readonly token: RsaKeys;
}

let made: Promise<ServerKeys> | undefined;

/** Returns the same keys to all specs of a process: generating them is slow. */
export function serverKeys(): Promise<ServerKeys> {
  made ??= newServerKeys();
  return made;
}

async function newServerKeys(): Promise<ServerKeys> {
  const [own, token] = await Promise.all([createRsaKeys(), createRsaKeys()]);
  const now = systemClock.now();
  const validity = { fromMs: now - 60_000, untilMs: now + 3_600_000 };
  const options = { validity, random: seededRandom(1) };
  return { tls: await createSelfSigned(['127.0.0.1'], own, options), token };
}

export function healthView(name: string, namespace = 'n'): UnstructuredObject {
  return { apiVersion: version, kind: 'HealthView', metadata: { name, namespace }, ready: 1 };
}

/**
 * A {@link ViewApiServer} on a virtual clock, with the view `a` in the namespace `n` and `b` in
 * `m`.
 */
export class ViewServer {
  readonly clock: VirtualClock;
  readonly views: Views;
  readonly server: ViewApiServer;
  readonly #keys: ServerKeys | undefined;
  readonly #agent: Agent;

  private constructor(
    parts: Pick<ViewServer, 'clock' | 'views' | 'server'>,
    keys: ServerKeys | undefined,
  ) {
    this.clock = parts.clock;
    this.views = parts.views;
    this.server = parts.server;
    this.#keys = keys;
    this.#agent = new Agent({ connect: { ca: keys?.tls.certificate ?? '' } });
  }

  /** Starts a server over HTTPS with `keys`, else over HTTP. */
  static async start(keys?: ServerKeys, options: ViewApiServerOptions = {}): Promise<ViewServer> {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1));
    const views = await Views.start({ clock, random: seededRandom(1) });
    await views.ensure('shop', 'HealthView');
    await views.client.create(healthView('a'));
    await views.client.create(healthView('b', 'm'));
    const secured = keys && { tls: keys.tls, tokenKey: keys.token.publicKey };
    const server = new ViewApiServer({ port: 0, ...secured, ...options });
    server.attach(views);
    await server.start();
    return new ViewServer({ clock, views, server }, keys);
  }

  token(claims: Partial<TokenClaims> = {}, options: TokenOptions = {}): Promise<string> {
    const { clock } = this;
    const all = { username: 'alice', namespaces: ['n'], rules: [everything], ...claims };
    return createToken(all, this.#keys?.token.privateKey ?? '', { clock, ...options });
  }

  async ask(path: string, question: Question = {}): Promise<Reply> {
    const { method = 'GET', token, headers = {}, body: sent } = question;
    const shown = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await request(this.server.url + path, {
      method,
      headers: { 'content-type': 'application/json', ...shown, ...headers },
      ...(sent !== undefined && { body: typeof sent === 'string' ? sent : JSON.stringify(sent) }),
      dispatcher: this.#agent,
    });
    const text = await answer.body.text();
    const body = (text.startsWith('{') ? JSON.parse(text) : {}) as Reply['body'];
    return { code: answer.statusCode, text, headers: answer.headers, body };
  }

  /**
   * Returns the next lines of a watch on each call, as `ADDED a`; undefined when the watch has
   * ended.
   */
  async watch(path: string, question: Question = {}): Promise<() => Promise<string | undefined>> {
    const { token } = question;
    const { body } = await request(this.server.url + path, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      dispatcher: this.#agent,
    });
    const chunks = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    return async () => {
      const chunk = await chunks.next();
      if (chunk.done === true) return undefined;
      const lines = chunk.value.toString().trim().split('\n');
      const events = lines.map((line) => JSON.parse(line) as WatchLine);
      return events.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`).join();
    };
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await this.#agent.destroy();
    await this.views.stop();
  }
}

interface WatchLine {
  readonly type: string;
  readonly object: UnstructuredObject;
}

/** A rule that allows all. */
export const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
