import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../../lib/system/clock.js';
import { systemRandom } from '../../../lib/system/random.js';
import { createAuthority, issueCertificate } from '../../../lib/system/x509.js';

/** A request that arrived at an {@link ExtensionServer}. */
export interface Arrived {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: string;
}

/**
 * An API server over HTTPS that serves Flunders of one group, for the Service `flunders` of the namespace `default`. It
 * records the requests for them.
 */
export class ExtensionServer {
  readonly group: string;
  readonly requests: Arrived[] = [];
  /** The CA certificate of the server: PEM in Base64, as in the field `caBundle`. */
  caBundle = '';
  port = 0;
  /** The status of its discovery. */
  discoveryStatus = 200;
  #server: Server | undefined;

  constructor(group: string) {
    this.group = group;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const now = systemClock.now();
    const validity = { fromMs: now - 3_600_000, untilMs: now + 3_600_000 };
    const options = { random: systemRandom, validity };
    const authority = await createAuthority('extension', options);
    const names = ['flunders.default.svc'];
    const { certificate, privateKey } = await issueCertificate(authority, names, options);
    this.caBundle = Buffer.from(authority.certificate).toString('base64');
    this.#server = createServer({ cert: certificate, key: privateKey }, (incoming, outgoing) => {
      void this.#serve(incoming, outgoing);
    });
    await new Promise<void>((resolve) => this.#server?.listen(0, '127.0.0.1', resolve));
    this.port = (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const { url = '', method = '' } = incoming;
    const answer = (status: number, value: object): void => {
      outgoing.writeHead(status, { 'content-type': 'application/json', 'x-flunder': 'yes' });
      outgoing.end(JSON.stringify(value));
    };
    const root = `/apis/${this.group}/v1`;
    if (url === root) {
      answer(this.discoveryStatus, resourceList(this.group));
    } else if (url === '/openapi/v3') {
      const serverRelativeURL = `/openapi/v3${root}?hash=F1`;
      answer(200, { paths: { [root.slice(1)]: { serverRelativeURL } } });
    } else if (url.startsWith('/openapi/v3/')) {
      answer(200, { openapi: '3.0.0', info: { title: 'Flunders', version: '1' }, paths: {} });
    } else if (!url.startsWith(root)) {
      answer(404, {});
    } else if (url.endsWith('/broken')) {
      incoming.socket.destroy();
    } else {
      const headers = incoming.headersDistinct as Arrived['headers'];
      this.requests.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      answer(method === 'POST' ? 201 : 200, { kind: 'Flunder', metadata: { name: 'one' } });
    }
  }
}

function resourceList(group: string): object {
  const flunder = { namespaced: true, kind: 'Flunder' };
  return {
    ...{ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/v1` },
    resources: [
      { name: 'flunders', singularName: 'flunder', ...flunder, verbs: ['create', 'get'] },
      { name: 'flunders/status', singularName: '', ...flunder, verbs: ['get'] },
    ],
  };
}
