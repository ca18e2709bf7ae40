import { X509Certificate } from 'node:crypto';
import type { Agent } from 'node:https';
import { errorMessage, OperatorError } from '../../system/index.js';
import type { RequestHandler } from '../http-adapter.js';
import { OngoingRequest } from './ongoing-request.js';

/** The Services of webhooks and APIServices, by `namespace/name`: a URL, or a handler in this process. */
export type WebhookServices = Readonly<Record<string, string | RequestHandler>>;

/** The identity that a server must prove. */
export interface Trust {
  /** The trusted authorities in PEM; if undefined, those of the machine. */
  readonly ca?: string | undefined;
  /** Accepts any certificate. @defaultValue false */
  readonly insecure?: boolean | undefined;
}

/**
 * How long a connection may be idle, in milliseconds. Servers close idle connections (Node.js after 5 s), and a request
 * that is sent at the same moment fails. So this client closes idle connections earlier.
 */
const idleMs = 4_000;

/** The targets of Services, and keep-alive connections to other servers. */
export class Connections {
  readonly #services: readonly WebhookServices[];
  readonly #agents = new Map<string, Agent>();
  readonly #ongoing = new Set<OngoingRequest>();
  #closed = false;

  constructor(...services: readonly WebhookServices[]) {
    this.#services = services;
  }

  /** Returns the target of a Service; undefined if the server has none. */
  target(namespace: string, name: string): string | RequestHandler | undefined {
    const key = `${namespace}/${name}`;
    return this.#services.find((services) => Object.hasOwn(services, key))?.[key];
  }

  /** Starts a request, which ends early when its caller aborts `signal` or the connections close. */
  start(signal?: AbortSignal): OngoingRequest {
    const onAbort = (): void => {
      const cause: unknown = signal?.reason;
      ongoing.abort(new OperatorError('Aborted', 'the request was aborted', { cause }));
    };
    const ongoing = new OngoingRequest(() => {
      this.#ongoing.delete(ongoing);
      signal?.removeEventListener('abort', onAbort);
    });
    if (this.#closed) ongoing.abort(stopped());
    else if (signal?.aborted === true) onAbort();
    else {
      this.#ongoing.add(ongoing);
      signal?.addEventListener('abort', onAbort, { once: true });
    }
    return ongoing;
  }

  /**
   * Returns the agent for connections to servers that must prove the given identity.
   * @throws OperatorError `Stopped`: the connections are closed.
   */
  async agent({ ca, insecure = false }: Trust): Promise<Agent> {
    const https = await import('node:https');
    if (this.#closed) throw stopped();
    const key = `${String(insecure)} ${ca ?? ''}`;
    const known = this.#agents.get(key);
    if (known !== undefined) return known;
    // As in Go, the chain may end at any certificate of the bundle, even at the server's own.
    const trusted = ca === undefined ? {} : { ca, allowPartialTrustChain: true };
    const options = { keepAlive: true, timeout: idleMs, rejectUnauthorized: !insecure };
    const agent = new https.Agent({ ...options, ...trusted });
    this.#agents.set(key, agent);
    return agent;
  }

  /** Ends all requests, and closes all connections for good. */
  close(): void {
    this.#closed = true;
    for (const ongoing of [...this.#ongoing]) ongoing.abort(stopped());
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }
}

function stopped(): OperatorError {
  return new OperatorError('Stopped', 'the embedded API server was stopped');
}

/** Returns the PEM of a `caBundle`; undefined if it is absent or empty. */
export function bundleText(bundle = ''): string | undefined {
  return bundle === '' ? undefined : Buffer.from(bundle, 'base64').toString();
}

/** Returns whether a `caBundle` is absent, empty, or has a certificate. */
export function isBundle(bundle: string | undefined): boolean {
  const text = bundleText(bundle);
  try {
    return text === undefined || new X509Certificate(text).raw.length > 0;
  } catch {
    return false;
  }
}

/** A response did not arrive in time. */
export class DeadlineExceeded extends Error {
  constructor() {
    super('context deadline exceeded');
  }
}

interface ConnectionError {
  readonly code?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
  readonly cert?: { readonly subjectaltname?: string };
  readonly host?: string;
}

const untrusted: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Returns the real server's message for a connection error. */
export function connectionFailure(error: unknown): string {
  // Handlers may reject with any value.
  const { code = '', address = '', port = 0, hostname = '' } = (error ?? {}) as ConnectionError;
  const certificate = 'tls: failed to verify certificate: x509: ';
  if (untrusted.has(code)) return `${certificate}certificate signed by unknown authority`;
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${address}:${port}: connect: connection refused`;
    case 'ENOTFOUND':
      return `dial tcp: lookup ${hostname}: no such host`;
    case 'ECONNRESET':
      return 'EOF';
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return `${certificate}certificate has expired or is not yet valid`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return certificate + wrongName(error as ConnectionError);
    case 'EPROTO':
      return 'http: server gave HTTP response to HTTPS client';
    default:
      return errorMessage(error);
  }
}

function wrongName({ cert, host = '' }: ConnectionError): string {
  const names = (cert?.subjectaltname ?? '')
    .split(', ')
    .filter((name) => name.startsWith('DNS:'))
    .map((name) => name.slice('DNS:'.length));
  if (names.length === 0)
    return `certificate is not valid for any names, but wanted to match ${host}`;
  return `certificate is valid for ${names.join(', ')}, not ${host}`;
}
