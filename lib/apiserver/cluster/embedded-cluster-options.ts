import { controllerNames } from '../controllers/index.js';
import type { ControllerName, ControllersOptions, PodOptions } from '../controllers/index.js';
import type { UserOptions } from '../auth/authenticator.js';
import type { ListenTls } from '../http-adapter.js';
import type { WebhookServices } from '../outside/connections.js';
import type { CustomResourceDefinition } from '../../object/index.js';
import { refuseUnknownOptions, OperatorError, systemRandom } from '../../system/index.js';
import type { OptionNames, Clock, Logger, Random } from '../../system/index.js';

/** An object with a CustomResourceDefinition, such as a resource of `defineResource`. */
export interface WithDefinition {
  readonly crd: CustomResourceDefinition;
}

/** Options of `EmbeddedCluster.start`. */
export interface EmbeddedClusterOptions {
  /**
   * Custom resources to serve from the start: results of `defineResource`, or CustomResourceDefinitions.
   * @defaultValue none
   */
  readonly crds?: readonly (CustomResourceDefinition | WithDefinition)[] | undefined;
  /**
   * Simulate workloads: Deployments, StatefulSets, Jobs, … create pods that run, Services get endpoints and
   * claims get volumes. Otherwise only garbage collection and namespace deletion run.
   * @defaultValue false
   */
  readonly simulateWorkloads?: boolean | undefined;
  /** Controllers to switch on or off, regardless of `simulateWorkloads`. */
  readonly controllers?: ControllersOptions['controllers'];
  /** Options of the simulated pods. */
  readonly pods?: PodOptions | undefined;
  /** The number of Nodes, at least 0. @defaultValue 1 */
  readonly nodes?: number | undefined;
  /** Delay before a Job replaces a failed pod, in milliseconds. @defaultValue 10_000 */
  readonly jobPodBackoffMs?: number | undefined;
  /** Users by bearer token, for HTTP. @defaultValue none: all clients are administrators */
  readonly users?: Readonly<Record<string, string | UserOptions>> | undefined;
  /**
   * Enforce Roles and their bindings, as on a real cluster. Clients of users other than the administrator
   * then have almost no permissions, and the default roles (`cluster-admin`, `admin`, `edit`, `view`, …)
   * exist.
   * @defaultValue false: all requests are allowed
   */
  readonly rbac?: boolean | undefined;
  /**
   * Targets of the Services that admission and conversion webhooks name, by `namespace/name`. A target is a
   * function that answers in place of the Service, or a base URL such as `https://127.0.0.1:9443`. The
   * certificate of the URL must be for `name.namespace.svc`.
   * @defaultValue none: webhook calls by Service fail
   */
  readonly services?: WebhookServices | undefined;
  /** The port to listen on from the start; 0: any free port. @defaultValue no listening */
  readonly port?: number | undefined;
  /**
   * The address to listen on. On any other interface than loopback, every client that reaches the port is the
   * administrator, unless `rbac` is set.
   * @defaultValue '127.0.0.1'
   */
  readonly host?: string | undefined;
  /**
   * Serve the control API at `/_control/v1`, for tests in other languages: faults, clock, snapshots, request
   * log and pods. A text is the bearer token of its clients; true generates one
   * (`EmbeddedCluster.controlToken`).
   * @defaultValue false
   */
  readonly control?: boolean | string | undefined;
  /**
   * Serve HTTPS. With `true`, the cluster has its own certificate authority: kubeconfigs contain it, and clients
   * can use certificates (`EmbeddedCluster.clientCertificate`). Or pass the certificate of the server and the
   * authority of the clients, in PEM format. Go clients, kubectl among them, send tokens over HTTPS only.
   * @defaultValue the value of `rbac`, which needs tokens
   */
  readonly tls?: boolean | ListenTls | undefined;
  /**
   * Host names that requests without credentials may use, in addition to `localhost` and IP addresses. Requests to
   * any other name are refused, because a website can point its own name at this server.
   * @defaultValue none
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** The number of past changes that watches can resume from, at least 1. @defaultValue 10_000 */
  readonly logLength?: number | undefined;
  /**
   * The interval of a watch's bookmarks in milliseconds, at least 1. With `Infinity`, a watch gets a bookmark only when
   * it ends. Tests of long virtual times run faster without bookmarks, but clients then do not notice a silent watch.
   * @defaultValue 60_000, as a real server has it
   */
  readonly bookmarkEveryMs?: number | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** Source of uids and names. @defaultValue the system's random source */
  readonly random?: Random | undefined;
  /** Logs the failures of the cluster's controllers. @defaultValue no logs */
  readonly logger?: Logger | undefined;
}

/** {@link EmbeddedClusterOptions} with defaults, for the parts of the cluster. */
export interface ResolvedEmbeddedClusterOptions extends ControllersOptions {
  readonly random: Random;
  readonly users: Readonly<Record<string, string | UserOptions>>;
  readonly rbac: boolean;
  readonly services: WebhookServices;
  readonly tls: boolean | ListenTls;
  readonly host: string | undefined;
  /** The token of the control API; undefined: it is not served. */
  readonly controlToken: string | undefined;
  readonly allowedHosts: readonly string[] | undefined;
  readonly logLength: number | undefined;
  readonly bookmarkEveryMs: number | undefined;
}

const embeddedClusterOptionNames: OptionNames<EmbeddedClusterOptions> = {
  ...{ crds: true, simulateWorkloads: true, controllers: true, pods: true, nodes: true },
  ...{ jobPodBackoffMs: true, users: true, rbac: true, services: true, port: true, tls: true },
  ...{
    host: true,
    control: true,
    allowedHosts: true,
    logLength: true,
    bookmarkEveryMs: true,
    clock: true,
    random: true,
    logger: true,
  },
};

/** The user of the token that the cluster generates if `rbac` is set. */
const administrator = 'system:admin';

const alwaysOn: readonly ControllerName[] = ['garbageCollector', 'namespaces'];

/** Fills in the defaults. The classes that get the options check their ranges. */
export function resolveEmbeddedClusterOptions(
  options: EmbeddedClusterOptions,
): ResolvedEmbeddedClusterOptions {
  const { simulateWorkloads = false, controllers = {}, users = {}, logLength } = options;
  const { rbac = false, services = {}, tls = rbac, allowedHosts } = options;
  const { random = systemRandom, logger, pods, nodes, jobPodBackoffMs } = options;
  const { bookmarkEveryMs, host, control = false } = options;
  refuseUnknownOptions('EmbeddedCluster', options, embeddedClusterOptionNames);
  const on = controllerNames.map((name) => {
    const byDefault = simulateWorkloads || alwaysOn.includes(name);
    return [name, controllers[name] ?? byDefault] as const;
  });
  return {
    controllers: Object.fromEntries(on),
    random,
    users: rbac ? { [random.uuid()]: administrator, ...users } : users,
    rbac,
    services,
    tls,
    host,
    controlToken: tokenOf(control, random),
    allowedHosts,
    logLength,
    bookmarkEveryMs,
    logger,
    pods,
    nodes,
    jobPodBackoffMs,
  };
}

function tokenOf(control: boolean | string, random: Random): string | undefined {
  if (control === '') {
    const remedy = 'use true to generate a token';
    throw new OperatorError(
      'InvalidOption',
      `EmbeddedCluster: control must not be empty; ${remedy}`,
    );
  }
  if (typeof control === 'string') return control;
  return control ? random.uuid() : undefined;
}
