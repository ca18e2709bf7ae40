import { chmod, writeFile } from 'node:fs/promises';
import { MetricRules, PodRules, RootCertificate, startControllers } from '../controllers/index.js';
import type { Controllers } from '../controllers/index.js';
import { EmbeddedApiServer } from '../api-server.js';
import { conversionServices } from '../custom/in-process-conversion.js';
import type { Authorizer } from '../auth/authorizer.js';
import type { Faults } from '../faults.js';
import { listenHttp } from '../http-adapter.js';
import type { Listener, ListenTls } from '../http-adapter.js';
import type { RequestLog } from '../request-log.js';
import type { StoreSnapshot } from '../storage/mvcc-log.js';
import { createClient } from '../../client/index.js';
import type { ClientSettings, ConnectedClient } from '../../client/index.js';
import { isConvertedResource } from '../../crd/internal.js';
import type { CustomResourceDefinition } from '../../object/index.js';
import {
  systemClock,
  refuseUnknownOptions,
  OperatorError,
  VirtualClock,
  createAuthority,
  issueCertificate,
  issueClientCertificate,
} from '../../system/index.js';
import type {
  Clock,
  Random,
  Authority,
  CertificateAndKey,
  ClientSubject,
  IssueOptions,
} from '../../system/index.js';
import { resolveEmbeddedClusterOptions } from './embedded-cluster-options.js';
import type {
  EmbeddedClusterOptions,
  ResolvedEmbeddedClusterOptions,
  WithDefinition,
} from './embedded-cluster-options.js';
import { ControlApi } from './control-api.js';
import { whenEstablished } from './established.js';
import { kubeConfigText } from './kube-config-text.js';

/** Options of {@link EmbeddedCluster.client}. */
export interface EmbeddedClientOptions extends ClientSettings {
  /**
   * The user of the requests, also in the request log. `system:serviceaccount:ns:name` has the groups of a
   * ServiceAccount.
   * @defaultValue 'system:admin'
   */
  readonly user?: string | undefined;
  /** Groups of the user, in addition to `system:authenticated`. @defaultValue those that the user name implies */
  readonly groups?: readonly string[] | undefined;
  /**
   * Authorizes the requests of this client only.
   * @defaultValue the roles of the cluster, if it was started with `rbac`
   */
  readonly authorizer?: Authorizer | undefined;
}

/** Options of {@link EmbeddedCluster.settled}. */
export interface SettledOptions {
  /** Advance a `VirtualClock` to the next time at which a controller has work. @defaultValue true */
  readonly advanceClock?: boolean | undefined;
}

/**
 * A Kubernetes cluster in this process: an {@link EmbeddedApiServer} with the controllers of a cluster. For
 * tests and demonstrations: it keeps everything in memory.
 *
 * @example
 * ```ts
 * const cluster = await EmbeddedCluster.start({ simulateWorkloads: true });
 * const client = cluster.client();
 * await client.create(deployment);
 * await cluster.settled();
 * await cluster.stop();
 * ```
 */
export class EmbeddedCluster<C extends Clock = Clock> {
  /** The server, for functions that the cluster does not offer. */
  readonly server: EmbeddedApiServer;
  /** The clock of the cluster. */
  readonly clock: C;
  /** Rules for the behavior of simulated pods, and for the answers to commands in them. */
  readonly pods: PodRules;
  /** Metrics of simulated pods and of systems outside the cluster, for HorizontalPodAutoscalers. */
  readonly metrics = new MetricRules();
  readonly #options: ResolvedEmbeddedClusterOptions;
  readonly #controllers: Controllers;
  readonly #clients = new Set<ConnectedClient>();
  #listener: Listener | undefined;
  #listening: Promise<void> | undefined;
  readonly #rootCertificate = new RootCertificate();
  #certificates: ClusterCertificates | undefined;

  private constructor(
    clock: C,
    options: ResolvedEmbeddedClusterOptions,
    crds: readonly (CustomResourceDefinition | WithDefinition)[],
  ) {
    const { random, users, rbac, services, logLength, bookmarkEveryMs } = options;
    const { controllers, pods, nodes, jobPodBackoffMs, logger } = options;
    this.clock = clock;
    this.#options = options;
    this.pods = pods?.rules ?? new PodRules();
    const converted = crds.filter((crd) => isConvertedResource(crd));
    this.server = new EmbeddedApiServer({
      clock,
      random,
      users,
      rbac,
      services,
      conversions: conversionServices(converted),
      ...(logLength !== undefined && { logLength }),
      ...(bookmarkEveryMs !== undefined && { bookmarkEveryMs }),
      requireServiceAccounts: controllers?.serviceAccounts === true,
      commands: this.pods,
    });
    this.#controllers = startControllers(this.server.loopback, {
      ...{ controllers, nodes, jobPodBackoffMs, clock, random, logger },
      ...{ metrics: this.metrics, rootCertificate: this.#rootCertificate },
      pods: { ...pods, rules: this.pods },
    });
  }

  /** Starts a cluster with `options.clock`, for example a `VirtualClock`. */
  static start<C extends Clock>(
    options: EmbeddedClusterOptions & { readonly clock: C },
  ): Promise<EmbeddedCluster<C>>;
  /**
   * Starts a cluster. Its custom resources are served when the promise resolves. Functions of a resource that convert
   * its versions run in this process.
   * @throws OperatorError `InvalidOption`: an option is out of its range.
   * @throws ApiError the server refuses a custom resource definition.
   */
  static start(options?: EmbeddedClusterOptions): Promise<EmbeddedCluster>;
  static async start(options: EmbeddedClusterOptions = {}): Promise<EmbeddedCluster> {
    const { clock = systemClock, crds = [] } = options;
    const cluster = new EmbeddedCluster(clock, resolveEmbeddedClusterOptions(options), crds);
    try {
      await cluster.#begin(options);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** The requests of clients, without the requests of the cluster's own controllers. */
  get requests(): RequestLog {
    return this.server.requests;
  }

  /** Rules that make requests fail. */
  get faults(): Faults {
    return this.server.faults;
  }

  /**
   * The URL of the server, for example `http://127.0.0.1:41231`, or `https://…`.
   * @throws OperatorError `Stopped`: the server does not listen; see {@link EmbeddedCluster.listen}.
   */
  get url(): string {
    if (this.#listener === undefined) {
      throw new OperatorError('Stopped', 'the cluster does not listen: call listen() first');
    }
    // Not every platform lets a client connect to a wildcard address, and no certificate is valid for such an address.
    return this.#listener.url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  }

  /**
   * The bearer token of the control API at `/_control/v1`.
   * @throws OperatorError `Stopped`: the cluster was started without `control`.
   */
  get controlToken(): string {
    const { controlToken } = this.#options;
    if (controlToken !== undefined) return controlToken;
    const remedy = 'start it with control: true';
    throw new OperatorError('Stopped', `the cluster serves no control API: ${remedy}`);
  }

  /** Creates a client without a socket. The cluster closes it when it stops. */
  client(options: EmbeddedClientOptions = {}): ConnectedClient {
    const { user, groups, authorizer, ...rest } = options;
    const { clock = this.clock, random = this.#options.random, ...settings } = rest;
    const named =
      user === undefined && groups === undefined
        ? undefined
        : { name: user ?? 'system:admin', groups };
    const transport = this.server.transport(named, authorizer);
    const client = createClient({ ...settings, clock, random, transport });
    this.#clients.add(client);
    return client;
  }

  /**
   * Listens on `host`, by HTTPS if `tls` is set, else by HTTP. Later calls change nothing.
   * @returns the URL
   */
  async listen(port = 0): Promise<string> {
    this.#listening ??= this.#openListener(port);
    try {
      await this.#listening;
    } catch (error) {
      this.#listening = undefined;
      throw error;
    }
    return this.url;
  }

  async #openListener(port: number): Promise<void> {
    const { allowedHosts, controlToken, host, random, tls: wanted } = this.#options;
    if (wanted === true) {
      this.#certificates = await ClusterCertificates.create(random);
      this.#rootCertificate.pem = this.#certificates.authority;
    }
    const tls = wanted === true ? this.#certificates?.serving : wanted || undefined;
    const own = this.server.entrance(undefined, allowedHosts);
    const { handler, admit } =
      controlToken === undefined ? own : new ControlApi(this, controlToken).entrance(own);
    const address = { port, tls, ...(host !== undefined && { host }) };
    this.#listener = await listenHttp(handler, { ...address, admit });
  }

  /**
   * The certificate of the cluster's authority in PEM format.
   * @throws OperatorError `Stopped`: the cluster does not listen, or has no HTTPS certificate of its own authority.
   */
  get certificateAuthority(): string {
    return this.#secured().authority;
  }

  /**
   * Issues a certificate and its key in PEM format; a client can use it over HTTPS instead of a token.
   * @param user - the user name.
   * @param groups - its groups, in addition to `system:authenticated`.
   * @throws OperatorError `Stopped`: the cluster does not listen, or has no HTTPS certificate of its own authority.
   */
  async clientCertificate(
    user: string,
    groups: readonly string[] = [],
  ): Promise<{ readonly certificate: string; readonly privateKey: string }> {
    return this.#secured().client({ user, groups });
  }

  #secured(): ClusterCertificates {
    if (this.#certificates === undefined) {
      const remedy = 'start it with tls: true, and call listen()';
      const problem = 'the cluster does not listen over HTTPS by its own authority';
      throw new OperatorError('Stopped', `${problem}: ${remedy}`);
    }
    return this.#certificates;
  }

  /**
   * Returns a kubeconfig in YAML for kubectl and other clients.
   * @param user - one of the `users`; the administrator if it is left out
   * @param options - `url`: the URL of the cluster as its clients reach it. Defaults to `url` of the cluster.
   * @throws OperatorError `Stopped`: the cluster does not listen.
   * @throws OperatorError `InvalidOption`: the user is unknown.
   */
  kubeConfig(user?: string, { url = this.url }: { readonly url?: string } = {}): string {
    const { users, rbac, tls } = this.#options;
    // If the caller gave the certificate, its authority is unknown, so clients trust the certificate itself.
    const given = typeof tls === 'object' ? tls.certificate : undefined;
    const authority = given ?? this.#certificates?.authority;
    return kubeConfigText({
      authority,
      url,
      user: user ?? (rbac ? 'system:admin' : undefined),
      users,
    });
  }

  /** Writes {@link EmbeddedCluster.kubeConfig} to a file that only its owner can read. */
  async writeKubeConfig(path: string, user?: string): Promise<void> {
    await writeFile(path, this.kubeConfig(user), { mode: 0o600 });
    // `writeFile` sets the mode of a new file only.
    await chmod(path, 0o600);
  }

  /**
   * Resolves when the cluster's controllers have no work left: pods are ready or stuck, rollouts are complete
   * or blocked, and deleted objects are gone. Crash loops, schedules and deadlines never end, so they do not
   * count. The time of a `VirtualClock` advances as far as needed. With `advanceClock: false` it stands
   * still, and the promise resolves when no work is due now.
   */
  async settled(options: SettledOptions = {}): Promise<void> {
    const { advanceClock = true } = options;
    refuseUnknownOptions<SettledOptions>('EmbeddedCluster.settled', options, { advanceClock });
    const { clock } = this;
    if (!(clock instanceof VirtualClock)) {
      await this.#controllers.settled();
      return;
    }
    for (;;) {
      await this.#controllers.quiet();
      const nextMs = this.#controllers.nextWorkInMs;
      if (!advanceClock || nextMs === undefined) return;
      await clock.advance(nextMs);
    }
  }

  /**
   * Returns the current content of the store. Cheap: objects are shared, not copied.
   *
   * @example
   * ```ts
   * const before = cluster.snapshot();
   * await crash();
   * cluster.restore(before);
   * ```
   */
  snapshot(): StoreSnapshot {
    return this.server.snapshot();
  }

  /**
   * Restores the content of a snapshot, possibly of another cluster. Objects that changed since get new
   * versions, open watches end, and older versions are gone (410), so that clients list again. Time, the
   * request log and faults stay unchanged. The cluster's own controllers continue from the restored content.
   */
  restore(snapshot: StoreSnapshot): void {
    this.server.restore(snapshot);
  }

  /** Stops the controllers, all clients and watches, and the server. No timer or socket remains. */
  async stop(): Promise<void> {
    this.#controllers.stop();
    await Promise.all([...this.#clients].map((client) => client.close()));
    await this.server.stop();
    await Promise.allSettled([this.#listening]);
    await this.#listener?.close();
  }

  async #begin({ crds = [], port }: EmbeddedClusterOptions): Promise<void> {
    await this.#controllers.quiet();
    await this.#install(crds);
    if (port === undefined) return;
    await this.listen(port);
    // Wait until the controllers have published the listener's certificate in each namespace.
    await this.#controllers.quiet();
  }

  async #install(crds: readonly (CustomResourceDefinition | WithDefinition)[]): Promise<void> {
    if (crds.length === 0) return;
    const client = this.client();
    for (const given of crds) {
      const crd = 'crd' in given ? given.crd : given;
      await client.create(crd);
      await whenEstablished(client, crd);
    }
    this.#clients.delete(client);
    await client.close();
  }
}

const dayMs = 24 * 60 * 60_000;
const names = ['127.0.0.1', '::1', 'localhost', 'kubernetes', 'kubernetes.default.svc'];

/** The certificates of a cluster that serves HTTPS: its authority's and its server's. */
class ClusterCertificates {
  /** The authority's certificate, in PEM. */
  readonly authority: string;
  readonly serving: ListenTls;
  readonly #authority: Authority;
  readonly #options: IssueOptions;

  private constructor(parts: {
    readonly authority: Authority;
    readonly server: CertificateAndKey;
    readonly options: IssueOptions;
  }) {
    this.authority = parts.authority.certificate;
    this.serving = { ...parts.server, clientAuthority: this.authority };
    this.#authority = parts.authority;
    this.#options = parts.options;
  }

  static async create(random: Random): Promise<ClusterCertificates> {
    // Uses the system clock, because clients check the validity against the real time.
    const now = systemClock.now();
    const options = { random, validity: { fromMs: now - dayMs, untilMs: now + 365 * dayMs } };
    const authority = await createAuthority('embedded-cluster', options);
    const server = await issueCertificate(authority, names, options);
    return new ClusterCertificates({ authority, server, options });
  }

  /** Issues a client certificate. */
  client(subject: ClientSubject): Promise<CertificateAndKey> {
    return issueClientCertificate(this.#authority, subject, this.#options);
  }
}
