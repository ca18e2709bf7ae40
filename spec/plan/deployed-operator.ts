import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { writeFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import type { EmbeddedCluster } from '../../lib/apiserver/index.js';
import type { Client } from '../../lib/client/index.js';
import type { Operator, OperatorRunOptions } from '../../lib/operator/index.js';
import { eventually } from '../../lib/testing/index.js';
import { rememberingLogger } from '../manager/manager-setup.js';
import type { LogLine } from '../manager/manager-setup.js';
import { staticCertificate } from '../manager/metrics/static-certificate.js';

/** A running operator that answers plans over HTTPS. */
export class DeployedOperator {
  readonly lines: LogLine[] = [];
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  url = '';

  static async start(
    operator: Operator,
    client: Client,
    options: OperatorRunOptions = {},
  ): Promise<DeployedOperator> {
    const deployed = new DeployedOperator();
    const certificate = staticCertificate();
    const serving = { host: '127.0.0.1', port: 0, access: 'reviewed', certificate } as const;
    deployed.#running = operator.run({
      ...{ client, metrics: serving, plan: true, rbacPreflight: 'off' },
      ...{ signal: deployed.#stop.signal, logger: rememberingLogger(deployed.lines) },
      ...options,
    });
    deployed.#running.catch(() => undefined);
    await eventually(() => {
      const listens = deployed.lines.find(({ message }) => message === 'metrics-server listens');
      if (listens === undefined) throw new Error(JSON.stringify(deployed.lines));
      deployed.url = String(listens.fields['url']);
    });
    return deployed;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

/** Sends a request to a server with a self-signed certificate. */
export async function post(
  url: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    const answer = await request(url, { method: 'POST', body, headers, dispatcher });
    return { status: answer.statusCode, text: await answer.body.text() };
  } finally {
    await dispatcher.destroy();
  }
}

/** Sends the headers of a request to a server with a self-signed certificate, which then waits for the body. */
export async function beginPost(
  url: string,
  headers: Record<string, string>,
): Promise<{ readonly end: (body: string) => Promise<number> }> {
  const asking = { ...headers, expect: '100-continue' };
  const sent = requestHttps(url, { method: 'POST', headers: asking, rejectUnauthorized: false });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  answered.catch(() => undefined);
  sent.flushHeaders();
  await once(sent, 'continue');
  return {
    end: async (body) => {
      sent.end(body);
      const [answer] = await answered;
      answer.resume();
      return answer.statusCode ?? 0;
    },
  };
}

/** A server in front of an embedded cluster. It adds the API server's proxy to Services, which that cluster lacks. */
export class ServiceProxy {
  readonly #server: Server;
  readonly #cluster: EmbeddedCluster;
  /** The headers of the last request to a Service, as the client sent them. */
  sent: IncomingHttpHeaders = {};

  private constructor(cluster: EmbeddedCluster, services: Readonly<Record<string, string>>) {
    this.#cluster = cluster;
    this.#server = createServer((asked, response) => {
      if (asked.url !== undefined && proxiedPath.test(asked.url)) this.sent = asked.headers;
      forward(asked, response, { server: cluster.url, services }).catch((error: unknown) => {
        response.destroy(error as Error);
      });
    });
  }

  /** @param services - URLs by `namespace/https:name:port` */
  static async start(
    cluster: EmbeddedCluster,
    services: Readonly<Record<string, string>>,
  ): Promise<ServiceProxy> {
    const proxy = new ServiceProxy(cluster, services);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  async writeKubeConfig(path: string, user: string): Promise<void> {
    const { port } = this.#server.address() as AddressInfo;
    const text = this.#cluster.kubeConfig(user, { url: `http://127.0.0.1:${port}` });
    await writeFile(path, text, { mode: 0o600 });
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

const proxiedPath = /^\/api\/v1\/namespaces\/([^/]+)\/services\/([^/]+)\/proxy(\/.*)$/;

interface Routes {
  readonly server: string;
  readonly services: Readonly<Record<string, string>>;
}

async function forward(
  asked: IncomingMessage,
  response: ServerResponse,
  { server, services }: Routes,
): Promise<void> {
  const { method = 'GET', url = '/', headers } = asked;
  const [, namespace = '', name = '', path] = proxiedPath.exec(url) ?? [];
  const isProxied = path !== undefined;
  const key = `${namespace}/${decodeURIComponent(name)}`;
  const to = isProxied ? `${services[key] ?? ''}${path}` : `${server}${url}`;
  // Like the real server, which removes the credentials that it has checked.
  const dropped = ['host', 'connection', ...(isProxied ? ['authorization'] : [])];
  const kept = Object.entries(headers).filter(([header]) => !dropped.includes(header));
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    const answer = await request(to, {
      method: method as 'GET',
      headers: Object.fromEntries(kept),
      body: method === 'GET' ? null : await buffer(asked),
      dispatcher,
    });
    const body = Buffer.from(await answer.body.arrayBuffer());
    response.writeHead(answer.statusCode, answer.headers).end(body);
  } finally {
    await dispatcher.destroy();
  }
}
