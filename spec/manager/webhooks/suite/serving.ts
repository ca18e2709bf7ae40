import { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { systemRandom } from '../../../../lib/system/random.js';
import { systemClock } from '../../../../lib/system/clock.js';
import { silentLogger } from '../../../../lib/system/logger.js';
import type { Logger } from '../../../../lib/system/logger.js';
import type {
  CertificateSource,
  Webhook,
  WebhookServerOptions,
} from '../../../../lib/manager/webhooks/index.js';
import { WebhookServer } from '../../../../lib/manager/webhooks/index.js';
import { createAuthority, issueCertificate } from '../../../../lib/system/x509.js';

/** A certificate for 127.0.0.1 with the authority that signed it. */
export interface OwnCertificate {
  readonly source: CertificateSource;
  readonly authority: string;
}

/** Issues a certificate of a new authority. */
export async function ownCertificate(): Promise<OwnCertificate> {
  const nowMs = systemClock.now();
  const validity = { fromMs: nowMs - 60_000, untilMs: nowMs + 3_600_000 };
  const options = { validity, random: systemRandom };
  const authority = await createAuthority('spec', options);
  const issued = await issueCertificate(authority, ['localhost', '127.0.0.1'], options);
  return {
    authority: authority.certificate,
    source: { start: () => Promise.resolve(issued) },
  };
}

/** A response to an HTTPS client. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A running webhook server with a client that trusts it. */
export interface Serving {
  readonly url: string;
  readonly server: WebhookServer;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Stops the server. Resolves when its `run` has. */
  stop(): Promise<void>;
}

/** Runs `webhooks` on a free port of 127.0.0.1. */
export async function serving(
  webhooks: readonly Webhook[],
  own: OwnCertificate,
  options: Partial<WebhookServerOptions> & { readonly log?: Logger } = {},
): Promise<Serving> {
  const { log = silentLogger, ...rest } = options;
  const all = { webhooks, certificates: own.source, port: 0, host: '127.0.0.1', ...rest };
  const server = new WebhookServer(all);
  const ending = new AbortController();
  let running = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    running = server.run({ signal: ending.signal, logger: log, ready: resolve });
    running.catch(reject);
  });
  const url = `https://127.0.0.1:${server.port ?? 0}`;
  const dispatcher = new Agent({ connect: { ca: own.authority } });
  return {
    ...{ url, server },
    post: async (path, body, headers = {}) => {
      const isSent = typeof body === 'string' || Buffer.isBuffer(body) || body instanceof Readable;
      const text = isSent ? body : JSON.stringify(body);
      const answer = await request(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        ...{ body: text, dispatcher },
      });
      return { status: answer.statusCode, body: await answer.body.json() };
    },
    stop: async () => {
      ending.abort();
      await dispatcher.destroy();
      await running;
    },
  };
}
