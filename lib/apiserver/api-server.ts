import type { UnstructuredObject } from '../object/index.js';
import {
  isAborted,
  systemClock,
  OperatorError,
  isOperatorError,
  systemRandom,
  errorMessage,
  refuseUnknownOptions,
} from '../system/index.js';
import type {
  Clock,
  Random,
  Transport,
  TransportRequest,
  TransportResponse,
  OptionNames,
} from '../system/index.js';
import { AdmissionPolicies } from './admission/admission-policies.js';
import { WebhookConfigurations } from './admission/match-webhook.js';
import { attributesOf, isSelfReview } from './auth/policy-rule.js';
import { Aggregator } from './aggregation/aggregator.js';
import { AccessControl } from './auth/access-control.js';
import { allowAll, refusalOf } from './auth/authorizer.js';
import { identify, admit, websiteGuard } from './auth/asking.js';
import type { Authorizer } from './auth/authorizer.js';
import type { Asker, Asking, ListenerAccess } from './auth/asking.js';
import { createBootstrapRoles, aggregateRoles, createSystemObjects } from './system-objects.js';
import { administrator, userInfoOf } from './auth/authenticator.js';
import type { UserInfo, UserOptions } from './auth/authenticator.js';
import { CrdManager } from './custom/crd-manager.js';
import { DiscoveryHandler } from './discovery/discovery.js';
import { Faults, resetAfter } from './faults.js';
import { listenHttp, inProcessTransport } from './http-adapter.js';
import type {
  ListenOptions,
  ListenSettings,
  Listener,
  ConnectionHandler,
  InProcessOptions,
} from './http-adapter.js';
import { FlowControl } from './flow-control/flow-control.js';
import { builtinKinds } from './kinds/builtin-kinds.js';
import { KindRegistry } from './kinds/served-kind.js';
import type { Loopback } from './loopback.js';
import { handlePlain } from './plain-requests.js';
import { Outside } from './outside/outside.js';
import { WebhookClient } from './outside/webhook-client.js';
import { Connections } from './outside/connections.js';
import type { WebhookServices } from './outside/connections.js';
import { OpenWatches } from './reads/watch-objects.js';
import { SerializedObjects } from './reads/representation.js';
import { RequestLog, requestEntry } from './request-log.js';
import type { RequestOutcome } from './request-log.js';
import type { CommandRunner } from './requests/exec-requests.js';
import { readRequestInfo } from './requests/request-info.js';
import type { RequestInfo, ResourceRequest } from './requests/request-info.js';
import { handleResource } from './requests/resource-handler.js';
import type { Watches } from './requests/resource-handler.js';
import { errorResponse, pageNotFound } from './requests/body.js';
import { createServerCore } from './server-core.js';
import type { ServerCore } from './server-core.js';
import { ServerLoopback } from './loopback.js';
import { internalError, isStatusError } from './status-error.js';
import type { StatusError } from './status-error.js';
import { MvccLog, restoreSnapshot } from './storage/mvcc-log.js';
import type { StoreSnapshot } from './storage/mvcc-log.js';

/** Options of {@link EmbeddedApiServer}. */
export interface EmbeddedApiServerOptions {
  /** Clock of the server. @defaultValue the system clock */
  readonly clock?: Clock;
  /** Source of uids, generated names and addresses. @defaultValue the system's random source */
  readonly random?: Random;
  /**
   * Users by bearer token. Requests with any other token get 401, except for tokens that the server issued to
   * ServiceAccounts. @defaultValue none
   */
  readonly users?: Readonly<Record<string, string | UserOptions>>;
  /**
   * Enforce Roles and their bindings. Requests without a token are then anonymous and have almost no
   * permissions, and the default roles of a cluster exist.
   * @defaultValue false: all known users may do everything, and requests without a token are the
   * administrator's
   */
  readonly rbac?: boolean;
  /**
   * Targets of the Services that webhooks and APIServices name, by `namespace/name`: a base URL
   * (`https://127.0.0.1:9443`), or a function that answers in place of the Service. @defaultValue none
   */
  readonly services?: WebhookServices;
  /** Services that convert custom resources in this process, in addition to `services`. @internal */
  readonly conversions?: WebhookServices;
  /**
   * Store custom resources as their writers send them, without the rules that need a cluster.
   *
   * - Namespaces need not exist. A namespaced object may have no namespace; it then has the path of a
   *   cluster-scoped object.
   * - Names may be anything that is valid in a path.
   * - Labels, annotations and owner references are not validated.
   * - Deletes add no finalizers for a garbage collector.
   * - A change of `status` never increases the generation, even without a status subresource.
   *
   * @defaultValue false
   */
  readonly looseCustomResources?: boolean;
  /**
   * The number of changes that the log keeps, at least 1. A watch or a continued list that needs an older
   * change gets 410.
   * @defaultValue 10_000
   */
  readonly logLength?: number;
  /**
   * The maximum size of all kept changes in bytes of JSON, at least 1. The server discards older changes.
   * @defaultValue Infinity
   */
  readonly logBytes?: number;
  /** The number of requests that {@link EmbeddedApiServer.requests} keeps, at least 1. @defaultValue 100_000 */
  readonly requestLogLength?: number;
  /**
   * The interval of a watch's bookmarks in milliseconds, at least 1. With `Infinity`, a watch gets a bookmark only when
   * it ends.
   * @defaultValue 60_000, as a real server has it
   */
  readonly bookmarkEveryMs?: number;
  /**
   * The resource version before the first change, at least 1. Watches from lower versions get 410. Set it above the
   * versions of a server that this server replaces; otherwise clients of that server would miss the first changes. With
   * a version above 1, watches from a version that does not exist yet get 410 instead of waiting.
   * @defaultValue 1
   */
  readonly firstResourceVersion?: number;
  /**
   * Refuses pods whose ServiceAccount does not exist, as the admission plugin ServiceAccount does. A controller must
   * create the ServiceAccount `default` of each namespace: pods that name no ServiceAccount use it.
   * @defaultValue false
   * @internal
   */
  readonly requireServiceAccounts?: boolean;
  /**
   * Answers commands in pods, as `kubectl exec` sends them. @defaultValue undefined: commands get 405
   * @internal
   */
  readonly commands?: CommandRunner | undefined;
}

type ResolvedOptions = Required<EmbeddedApiServerOptions>;

const serializedObjects = 1024;

/**
 * A Kubernetes API server in this process, for tests and demonstrations. It keeps everything in memory and is
 * not made for production data. It accepts requests as calls of {@link EmbeddedApiServer.handle}, through
 * {@link EmbeddedApiServer.transport} without a socket, and over HTTP after {@link EmbeddedApiServer.listen}.
 */
export class EmbeddedApiServer {
  /** Log of the requests, for API budgets in tests. */
  readonly requests: RequestLog;
  /** Rules that make requests fail, for tests. */
  readonly faults: Faults;
  /** Reads and writes of the server's own controllers. */
  readonly loopback: Loopback;
  readonly #options: ResolvedOptions;
  readonly #core: ServerCore;
  readonly #aggregator: Aggregator;
  readonly #discovery: DiscoveryHandler;
  readonly #flows: FlowControl;
  readonly #watches: Watches;
  readonly #listeners = new Set<Listener>();
  #stopped = false;

  /** @throws OperatorError `InvalidOption`: an option is out of its range. */
  constructor(options: EmbeddedApiServerOptions = {}) {
    this.#options = resolveEmbeddedApiServerOptions(options);
    const { clock, random, logLength, logBytes, requestLogLength } = this.#options;
    const { bookmarkEveryMs, firstResourceVersion: firstRevision } = this.#options;
    const kinds = new KindRegistry();
    kinds.add(builtinKinds());
    const log = new MvccLog({ length: logLength, bytes: logBytes, firstRevision });
    const { users, rbac, services, conversions } = this.#options;
    const { looseCustomResources, requireServiceAccounts } = this.#options;
    const access = new AccessControl({ log, clock, random, users, rbac });
    const webhooks = new WebhookConfigurations(log);
    const needed = (): boolean => !webhooks.empty || kinds.converting;
    const outside = new Outside({ clock, random, needed });
    const connections = new Connections(services, conversions);
    this.#core = createServerCore({
      ...{ log, kinds, access, outside, clock: outside.clock, random: outside.random },
      systemRandom: random,
      ...{ looseCustomResources, requireServiceAccounts, bookmarkEveryMs },
      webhooks,
      policies: new AdmissionPolicies(log, 'validating'),
      mutatingPolicies: new AdmissionPolicies(log, 'mutating'),
      webhookClient: new WebhookClient(connections, clock),
      connections,
      commands: this.#options.commands,
    });
    this.#aggregator = new Aggregator(this.#core);
    this.#discovery = new DiscoveryHandler(kinds, this.#aggregator);
    const serialized = new SerializedObjects(serializedObjects);
    this.#watches = { serialized, open: new OpenWatches(kinds) };
    this.requests = new RequestLog(requestLogLength);
    this.faults = new Faults(clock, random);
    this.loopback = new ServerLoopback(this.#core);
    new CrdManager(this.#core);
    createSystemObjects(this.#core);
    this.#flows = new FlowControl(this.#core);
    if (rbac) {
      aggregateRoles(this.#core);
      createBootstrapRoles(this.#core);
    }
  }

  /** The `resourceVersion` of the last change. */
  get resourceVersion(): string {
    return String(this.#core.log.revision);
  }

  /** The number of open watches. */
  get openWatches(): number {
    return this.#watches.open.size;
  }

  /**
   * Creates a transport without a socket.
   * @param user - the user of all requests. If undefined, a bearer token identifies the user, and requests
   * without an `Authorization` header are the administrator's.
   * @param authorizer - authorizes the requests. @defaultValue the server's roles, if it has any
   */
  transport(
    user?: string | UserOptions,
    authorizer?: Authorizer,
    options: InProcessOptions = {},
  ): Transport {
    const known = userInfoOf(user ?? administrator.username);
    return inProcessTransport((request) => {
      const shown = user === undefined && 'authorization' in request.headers;
      return this.#handleAs(request, shown ? { authorizer } : { known, authorizer });
    }, options);
  }

  /**
   * Answers a request. Errors become error responses.
   * @throws OperatorError `ConnectionFailed`: a fault breaks the connection.
   * @throws OperatorError `Stopped`: the server was stopped.
   */
  handle(request: TransportRequest): Promise<TransportResponse> {
    return this.#handleAs(request, {});
  }

  /** Serves over HTTP, or over HTTPS with `tls`; by default on the loopback interface. @returns the URL */
  async listen(options: ListenOptions = {}): Promise<string> {
    refuseUnknownOptions('EmbeddedApiServer.listen', options, listenOptionNames);
    const { access, allowedHosts, ...address } = options;
    const { handler, admit: admitted } = this.entrance(access, allowedHosts);
    const listener = await listenHttp(handler, { ...address, admit: admitted });
    this.#listeners.add(listener);
    return listener.url;
  }

  /**
   * Returns the handlers of a listener's connections, for a caller with its own listener.
   * @param access - authenticates and authorizes the clients. @defaultValue the server's users and roles
   * @param allowedHosts - as in {@link ListenOptions}, for a listener without `access`.
   * @internal
   */
  entrance(access?: ListenerAccess, allowedHosts?: readonly string[]): Entrance {
    if (access === undefined) {
      return {
        admit: websiteGuard(allowedHosts),
        handler: (request, from) => this.#handleAs(request, from),
      };
    }
    const { serves } = access;
    const { kinds, clock } = this.#core;
    const discovery =
      serves === undefined
        ? this.#discovery
        : new DiscoveryHandler(kinds, this.#aggregator, { serves });
    return {
      admit: (head) => admit(access, head, clock.now()),
      handler: (request, from) => this.#handleAs(request, { ...from, discovery }),
    };
  }

  /** Discards all changes from the log: watches and continued lists from older versions get 410. */
  compact(): void {
    this.#core.log.compact();
  }

  /** Ends every open watch, as the restart of a server does. */
  dropWatches(): void {
    this.#watches.open.end();
  }

  /**
   * Returns the current content of the store, for {@link EmbeddedApiServer.restore}. Cheap: objects are
   * shared, not copied.
   */
  snapshot(): StoreSnapshot {
    const { log } = this.#core;
    const names = [...log.collections()];
    return { collections: new Map(names.map((name) => [name, log.collection(name).contents()])) };
  }

  /**
   * Restores the content of a snapshot. Objects that changed since get new versions, open watches end, and
   * older versions are gone (410), so that clients list again. The request log, faults and time stay
   * unchanged.
   */
  restore(snapshot: StoreSnapshot): void {
    restoreSnapshot(this.#core.log, snapshot);
    this.compact();
    this.dropWatches();
  }

  /** Ends every watch and connection. Later requests fail with `Stopped`. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.dropWatches();
    this.#aggregator.stop();
    this.#core.connections.close();
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    await Promise.all(listeners.map((listener) => listener.close()));
  }

  async #handleAs(request: TransportRequest, asking: ServerAsking): Promise<TransportResponse> {
    if (this.#stopped) throw new OperatorError('Stopped', 'the embedded API server was stopped');
    try {
      return await this.#answer(request, asking);
    } catch (error) {
      const accept = request.headers['accept'];
      if (isAborted(request)) throw error;
      if (isStatusError(error)) return errorResponse(error, accept);
      const codes = ['ConnectionFailed', 'Aborted', 'Stopped'] as const;
      if (codes.some((code) => isOperatorError(error, code))) throw error;
      // A defect of this server: the client gets a 500, as after a panic of the real server.
      const message = (error instanceof Error && error.stack) || errorMessage(error);
      return errorResponse(internalError(message), accept);
    }
  }

  async #answer(request: TransportRequest, asking: ServerAsking): Promise<TransportResponse> {
    const info = readRequestInfo(request);
    const { discovery = this.#discovery } = asking;
    const asker = this.#identify(request, info, asking);
    const flow = this.#flows.headersOf(info, asker.user);
    let response: TransportResponse;
    try {
      response = await this.#answerAs(asker, { request, info, discovery });
    } catch (error) {
      if (!isStatusError(error)) throw error;
      response = errorResponse(error, request.headers['accept']);
    }
    const { status, headers, body } = response;
    return { status, headers: Object.assign({}, headers, flow), body };
  }

  async #answerAs(
    asker: Asker,
    { request, info, discovery }: IdentifiedRequest,
  ): Promise<TransportResponse> {
    const { user } = asker;
    const denied = this.#denied(info, asker);
    if (info.type === 'plain') {
      if (denied !== undefined) {
        this.#record(info, user, { code: denied.status, denied: true });
        throw denied;
      }
      const response =
        (await this.#aggregator.answer({ info, request, user, serves: discovery.serves })) ??
        handlePlain(discovery, info, request);
      this.#record(info, user, { code: response.status });
      return response;
    }
    const asked = { info, request, asker, denied, discovery };
    const { response, reset } = await this.#answerResource(asked);
    this.#record(info, user, { code: response.status, denied: denied !== undefined });
    return reset ? resetAfter(response) : response;
  }

  /** @throws StatusError 401: the client is unknown; 403: it may not impersonate the requested user. */
  #identify(request: TransportRequest, info: RequestInfo, asking: ServerAsking): Asker {
    return identify(this.#core.access, request, asking, (user, { status: code }) =>
      this.#record(info, user, { code }),
    );
  }

  #denied(info: RequestInfo, { user, authorizer }: Asker): StatusError | undefined {
    if (authorizer === allowAll) return undefined;
    return refusalOf(authorizer, user, attributesOf(info));
  }

  async #answerResource({
    info,
    request,
    asker,
    denied,
    discovery,
  }: AskedResource): Promise<{ response: TransportResponse; reset: boolean }> {
    const { user, authorizer, untilMs } = asker;
    try {
      const reset =
        !this.faults.isEmpty && (await this.faults.strike(info, user.username, request.signal));
      if (denied !== undefined) throw denied;
      const aggregated = this.#aggregator.answer({ info, request, user, serves: discovery.serves });
      if (aggregated !== undefined) return { response: await aggregated, reset };
      if (!discovery.knowsGroup(info.group) && !isSelfReview(info)) {
        return { response: pageNotFound(), reset };
      }
      const copiesOf = (object: UnstructuredObject): number =>
        this.faults.copiesOf(object, info, user.username);
      const asked = { info, request, user, authorizer, untilMs, copiesOf };
      return { response: await handleResource(this.#core, asked, this.#watches), reset };
    } catch (error) {
      if (!isStatusError(error)) throw error;
      return { response: errorResponse(error, request.headers['accept']), reset: false };
    }
  }

  #record(info: RequestInfo, { username }: UserInfo, outcome: RequestOutcome): void {
    this.requests.add(requestEntry(info, username, outcome));
  }
}

/** The handlers of a listener's connections, as `listenHttp` takes them. */
export interface Entrance extends Pick<ListenSettings, 'admit'> {
  readonly handler: ConnectionHandler;
}

interface ServerAsking extends Asking {
  /** Discovery documents of the listener. @defaultValue the documents of all served groups */
  readonly discovery?: DiscoveryHandler | undefined;
}

/** An authenticated request. */
interface IdentifiedRequest {
  readonly info: RequestInfo;
  readonly request: TransportRequest;
  readonly discovery: DiscoveryHandler;
}

interface AskedResource extends IdentifiedRequest {
  readonly info: ResourceRequest;
  readonly asker: Asker;
  /** The error to answer with, unless a fault rule does so first; undefined if the user may send the request. */
  readonly denied: StatusError | undefined;
}

const listenOptionNames: OptionNames<ListenOptions> = {
  ...{ access: true, allowedHosts: true, port: true, host: true, tls: true },
};

function resolveEmbeddedApiServerOptions(options: EmbeddedApiServerOptions): ResolvedOptions {
  const {
    clock = systemClock,
    random = systemRandom,
    users = {},
    rbac = false,
    services = {},
    conversions = {},
    looseCustomResources = false,
    requireServiceAccounts = false,
    logLength = 10_000,
    logBytes = Infinity,
    requestLogLength = 100_000,
    bookmarkEveryMs = 60_000,
    firstResourceVersion = 1,
    commands,
  } = options;
  refuseUnknownOptions<EmbeddedApiServerOptions>('EmbeddedApiServer', options, {
    ...{ clock, random, users, rbac, services, conversions, looseCustomResources },
    ...{ logLength, logBytes, requestLogLength, bookmarkEveryMs, firstResourceVersion },
    requireServiceAccounts,
    commands: true,
  });
  const sizes = { logLength, logBytes, requestLogLength };
  const amounts = { ...sizes, bookmarkEveryMs, firstResourceVersion };
  for (const [name, value] of Object.entries(amounts)) {
    const mayBeInfinite = name === 'logBytes' || name === 'bookmarkEveryMs';
    const isWhole = Number.isInteger(value) || (mayBeInfinite && value === Infinity);
    if (!(isWhole && value >= 1)) {
      throw new OperatorError(
        'InvalidOption',
        `EmbeddedApiServer: want ${name} >= 1, got ${value}`,
      );
    }
  }
  return {
    ...{ clock, random, users, rbac, services, conversions, looseCustomResources },
    ...{ logLength, logBytes, requestLogLength, bookmarkEveryMs, firstResourceVersion },
    ...{ requireServiceAccounts, commands },
  };
}
