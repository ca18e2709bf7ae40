import type {
  ConnectionHandler,
  Entrance,
  ListenSettings,
  Listener,
  ListenerAccess,
  RequestHead,
  Session,
  StatusError,
} from '../../apiserver/internal.js';
import type { EmbeddedApiServer } from '../../apiserver/index.js';
import { errorResponse, failure } from '../../apiserver/internal.js';
import { isLoopback } from '../../manager/index.js';
import {
  listenFailed,
  refuseUnknownOptions,
  silentLogger,
  OperatorError,
  isOperatorError,
  websiteProblem,
  fitTogether,
  readCertificate,
} from '../../system/index.js';
import type { Logger } from '../../system/index.js';
import { isViewGroup } from '../spec/operator-spec.js';
import { TokenAuthorizer, TokenVerifier, verifyingKeys } from './tokens.js';
import type { VerifyingKey } from './tokens.js';

/** The argument of {@link ViewApiServer.attach}: `Views`. */
export interface ServedViews {
  readonly server: EmbeddedApiServer;
}

/**
 * Serves the views of declarative operators to kubectl and other clients: get, list, watch, create,
 * update, patch and delete, tables, discovery and OpenAPI. It serves nothing else.
 *
 * - Over HTTP: on the loopback interface only. Every client there has full access, except websites in a
 *   browser.
 * - Over HTTPS (1.2 and later), with `tls`: to clients with a token of {@link createToken}, within its
 *   claims. Requests without a valid token get 401, health checks included. Every token allows discovery;
 *   none allows impersonation. A watch ends when its token expires.
 *
 * Bodies, tokens and keys are never logged.
 *
 * @example
 * ```ts
 * const server = new ViewApiServer({ port: 0 });
 * server.attach(manager.views);
 * await server.start(signal);
 * console.log(server.url);
 * ```
 */
export class ViewApiServer {
  readonly #options: ResolvedViewApiServerOptions;
  readonly #access: ListenerAccess;
  #attached: { readonly views: ServedViews; readonly entrance: Entrance } | undefined;
  #listener: Listener | undefined;
  #state: 'new' | 'started' | 'stopped' = 'new';
  #leaveSignal: () => void = () => undefined;

  /** @throws OperatorError `InvalidOption`: an option is out of its range, or a key is invalid. */
  constructor(options: ViewApiServerOptions = {}) {
    this.#options = resolveViewApiServerOptions(options);
    const { tokenKeys: keys, tokenKeyFile: keyFile, logger } = this.#options;
    this.#access =
      keys === undefined
        ? loopbackAccess(logger)
        : tokenAccess(new TokenVerifier({ keys, keyFile, logger }), logger);
  }

  /**
   * The URL of the server, for example `https://127.0.0.1:18443`.
   * @throws OperatorError `Stopped`: the server does not listen.
   */
  get url(): string {
    if (this.#listener === undefined) {
      throw new OperatorError('Stopped', 'the API server of views does not listen: start it first');
    }
    return this.#listener.url;
  }

  /**
   * Serves `views`, before or after the start; earlier requests get 503. A second call with the same views
   * does nothing.
   * @throws OperatorError `InvalidOption`: the server has other views already.
   */
  attach(views: ServedViews): void {
    if (this.#attached?.views.server === views.server) return;
    if (this.#attached !== undefined) {
      const remedy = 'put the operators that share a server into one group';
      throw new OperatorError(
        'InvalidOption',
        `${subject}: it serves the views of another group already; ${remedy}`,
      );
    }
    this.#attached = { views, entrance: views.server.entrance(this.#access) };
  }

  /**
   * Starts to listen, until `signal` is aborted or {@link ViewApiServer.stop} is called.
   * @returns when the server listens
   * @throws OperatorError `ListenFailed`: for example a port in use; `AlreadyStarted`; `Aborted`: `signal`
   * is aborted.
   */
  async start(signal?: AbortSignal): Promise<void> {
    if (this.#state !== 'new') {
      throw new OperatorError(
        'AlreadyStarted',
        `${subject}: it was started before; make a new one`,
      );
    }
    if (isAborted(signal)) {
      throw new OperatorError('Aborted', 'the start was aborted', { cause: signal?.reason });
    }
    this.#state = 'started';
    this.#listener = await this.#listen();
    if (this.#isStopped() || isAborted(signal)) return this.stop();
    const onAbort = (): void => void this.stop();
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#leaveSignal = () => signal?.removeEventListener('abort', onAbort);
    this.#options.logger.info('views are served', { url: this.#listener.url });
  }

  /** Ends all connections and watches. A second call does nothing. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#leaveSignal();
    const listener = this.#listener;
    this.#listener = undefined;
    await listener?.close();
  }

  // While `start` waited for the socket, the caller may have stopped the server.
  #isStopped(): boolean {
    return this.#state === 'stopped';
  }

  async #listen(): Promise<Listener> {
    const { port, host, tls } = this.#options;
    // Loaded on demand: programs that serve nothing do not need it.
    const { listenHttp } = await import('../../apiserver/internal.js');
    try {
      return await listenHttp(this.#handle, { port, host, tls, admit: this.#admit });
    } catch (thrown) {
      // Allow another start, for example once the port is free.
      if (!this.#isStopped()) this.#state = 'new';
      const remedy = 'choose another port, or end what listens there';
      throw listenFailed(`${subject}:`, `${host}:${port}`, thrown, remedy);
    }
  }

  readonly #admit: NonNullable<ListenSettings['admit']> = async (head) => {
    const { admit } = this.#attached?.entrance ?? {};
    return admit === undefined ? { refused: unavailable() } : admit(head);
  };

  readonly #handle: ConnectionHandler = async (request, origin) => {
    if (this.#attached === undefined)
      return errorResponse(unavailable(), request.headers['accept']);
    try {
      return await this.#attached.entrance.handler(request, origin);
    } catch (error) {
      // The views have stopped, and this server still runs.
      if (isOperatorError(error, 'Stopped'))
        return errorResponse(unavailable(), request.headers['accept']);
      throw error;
    }
  };
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function unavailable(): StatusError {
  return failure(503, 'ServiceUnavailable', 'no views are served at the moment');
}

/** The certificate of an HTTPS server and its key, in PEM. */
export interface ViewTls {
  readonly certificate: string;
  readonly privateKey: string;
}

/** Options of {@link ViewApiServer}. */
export interface ViewApiServerOptions {
  /** 0: any free port. @defaultValue 18443 */
  readonly port?: number | undefined;
  /** The address to listen on. Without `tls` it must be a loopback address. @defaultValue '127.0.0.1' */
  readonly host?: string | undefined;
  /** Serve over HTTPS; clients need a token. @defaultValue undefined: HTTP, for all local clients */
  readonly tls?: ViewTls | undefined;
  /**
   * The keys that verify tokens: public RSA keys or certificates in PEM, one after the other.
   * @defaultValue the certificate of `tls`, if there is no `tokenKeyFile`
   */
  readonly tokenKey?: string | undefined;
  /**
   * A file with keys as in `tokenKey`. The server reads a changed file again, so keys need no restart.
   * @defaultValue undefined: the keys are fixed
   */
  readonly tokenKeyFile?: string | undefined;
  /** Logs the start, and why tokens are refused (debug). @defaultValue no logger */
  readonly logger?: Logger | undefined;
}

/** {@link ViewApiServerOptions} with defaults, validated. */
interface ResolvedViewApiServerOptions {
  readonly port: number;
  readonly host: string;
  readonly tls: ViewTls | undefined;
  /** undefined: tokens are not used. */
  readonly tokenKeys: readonly VerifyingKey[] | undefined;
  readonly tokenKeyFile: string | undefined;
  readonly logger: Logger;
}

/** @throws OperatorError `InvalidOption`. */
function resolveViewApiServerOptions(options: ViewApiServerOptions): ResolvedViewApiServerOptions {
  refuseUnknownOptions<ViewApiServerOptions>(subject, options, {
    ...{ port: true, host: true, tls: true, tokenKey: true, tokenKeyFile: true, logger: true },
  });
  const { port = 18_443, host = '127.0.0.1', tls, logger = silentLogger } = options;
  const { tokenKey, tokenKeyFile } = options;
  if (!(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    throw wrong(`want a port from 0 to 65535, got ${port}`);
  }
  if (tls === undefined) {
    if (!isLoopback(host)) {
      throw wrong(
        `HTTP is for loopback only, not for ${host}: give tls, a certificate and its key`,
      );
    }
    if (tokenKey !== undefined || tokenKeyFile !== undefined) {
      throw wrong('tokenKey is for HTTPS: give tls, or leave it out');
    }
    return { port, host, tls, tokenKeys: undefined, tokenKeyFile, logger };
  }
  checkTls(tls);
  const pem = tokenKey ?? (tokenKeyFile === undefined ? tls.certificate : undefined);
  const tokenKeys = pem === undefined ? [] : verifyingKeys(pem);
  return { port, host, tls, tokenKeys, tokenKeyFile, logger };
}

const subject = 'API server of views';

function checkTls(tls: ViewTls): void {
  refuseUnknownOptions<ViewTls>(`${subject}: tls`, tls, { certificate: true, privateKey: true });
  const { certificate, privateKey } = tls;
  const read = readCertificate(certificate);
  if (read === undefined) throw wrong('tls.certificate: want a certificate in PEM');
  if (!fitTogether(read, privateKey)) {
    throw wrong('tls.privateKey is not the private key of the certificate');
  }
}

function wrong(what: string): OperatorError {
  return new OperatorError('InvalidOption', `${subject}: ${what}`);
}

/** Limits access to views: the server's definitions, namespaces and other objects are not exposed. */
const serves = isViewGroup;

const noHosts: ReadonlySet<string> = new Set();

/** Allows everything except impersonation: clients have no identity. */
const unsecured: Session = {
  user: { name: 'system:unsecured', groups: [] },
  authorizer: { authorize: (_user, { verb }) => ({ allowed: verb !== 'impersonate', reason: '' }) },
};

/**
 * Admits every client on the loopback interface, except websites in a browser of the machine. A website can reach this
 * address by DNS rebinding, but its requests show its host name, or its origin.
 */
function loopbackAccess(logger: Logger): ListenerAccess {
  return {
    serves,
    authenticate: async (head) => {
      const problem = websiteProblem(head, noHosts);
      if (problem === undefined) return unsecured;
      logger.debug('views: request of a website refused', { problem });
      throw failure(403, 'Forbidden', 'forbidden: websites have no access to views', {});
    },
  };
}

/** Admits clients with a token, within its claims. */
function tokenAccess(verifier: TokenVerifier, logger: Logger): ListenerAccess {
  return {
    serves,
    authenticate: async (head, nowMs) => {
      const token = bearerToken(head);
      if (token === undefined) return undefined;
      const verdict = await verifier.verify(token, nowMs);
      if (verdict.problem !== undefined) {
        logger.debug('views: a token was refused', { problem: verdict.problem });
        return undefined;
      }
      const { claims, untilMs } = verdict;
      return {
        user: { name: claims.username, groups: [] },
        authorizer: new TokenAuthorizer(claims),
        untilMs,
      };
    },
  };
}

function bearerToken({ headers }: RequestHead): string | undefined {
  const [, token] = /^Bearer +(\S+) *$/i.exec(headers['authorization'] ?? '') ?? [];
  return token;
}
