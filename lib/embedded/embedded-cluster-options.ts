import { controllerNames } from '../apiserver/controllers/index.js';
import type {
  ControllerName,
  ControllersOptions,
  PodOptions,
} from '../apiserver/controllers/index.js';
import type { UserOptions, WebhookServices } from '../apiserver/index.js';
import type { CustomResourceDefinition } from '../object/kinds.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import type { OptionNames } from '../system/known-options.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import { systemRandom } from '../system/random.js';
import type { Random } from '../system/random.js';

/** Has a CustomResourceDefinition, as a resource of `defineResource`. */
export interface WithDefinition {
  readonly crd: CustomResourceDefinition;
}

/** Options of `EmbeddedCluster.start`. */
export interface EmbeddedClusterOptions {
  /**
   * Custom resources to serve from the start: what `defineResource` made, or
   * CustomResourceDefinitions. @defaultValue none
   */
  readonly crds?: readonly (CustomResourceDefinition | WithDefinition)[] | undefined;
  /**
   * Let Deployments, StatefulSets, Jobs, … make pods that run, Services get endpoints and claims
   * volumes. Without it, only garbage collection and namespace deletion run. @defaultValue false
   */
  readonly simulateWorkloads?: boolean | undefined;
  /** Single controllers to run or not to run, against `simulateWorkloads`. */
  readonly controllers?: ControllersOptions['controllers'];
  /** How pods are simulated. */
  readonly pods?: PodOptions | undefined;
  /** How many Nodes there are, at least 0. @defaultValue 1 */
  readonly nodes?: number | undefined;
  /** How long a Job waits with a new pod after one failed, in milliseconds. @defaultValue 10_000 */
  readonly jobPodBackoffMs?: number | undefined;
  /** Bearer tokens and whom they stand for, over HTTP. @defaultValue none: all are administrators */
  readonly users?: Readonly<Record<string, string | UserOptions>> | undefined;
  /**
   * Whether Roles and their bindings decide who may do what, as on a real cluster: clients of other
   * users than the administrator start with next to no rights, and the default roles (`cluster-admin`,
   * `admin`, `edit`, `view`, …) are there. @defaultValue false: everyone may do everything
   */
  readonly rbac?: boolean | undefined;
  /**
   * Where the Services are that admission and conversion webhooks name, by `namespace/name`: a base
   * URL (`https://127.0.0.1:9443`; its certificate must be for `name.namespace.svc`), or a function
   * that answers in their place. @defaultValue none: calls of webhooks by Service fail
   */
  readonly services?: WebhookServices | undefined;
  /** Listen on this port of 127.0.0.1 from the start; 0: any free one. @defaultValue don't listen */
  readonly port?: number | undefined;
  /**
   * Serve over HTTPS, with an authority of its own: kubeconfigs hold it, and clients can have
   * certificates (`EmbeddedCluster.clientCertificate`). @defaultValue false: plain HTTP
   */
  readonly tls?: boolean | undefined;
  /**
   * Host names that requests without credentials may be sent to, beside `localhost` and IP addresses.
   * Requests to any other name are refused, since a website can point its own name at this server.
   * @defaultValue none
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** How many changes can be watched from behind, at least 1. @defaultValue the server's */
  readonly logLength?: number | undefined;
  /**
   * How far apart the bookmarks of a watch are, in milliseconds, at least 1; `Infinity`: a watch gets one
   * when it ends. Tests of long virtual times are quicker without them, but clients then do not notice
   * a watch that fell silent. @defaultValue 60_000, as a real server
   */
  readonly bookmarkEveryMs?: number | undefined;
  /** @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /** Source of uids and names. @defaultValue the machine's */
  readonly random?: Random | undefined;
  /** Gets what a controller of the cluster failed at. @defaultValue none */
  readonly logger?: Logger | undefined;
}

/** {@link EmbeddedClusterOptions} as its parts take them. */
export interface ResolvedEmbeddedClusterOptions extends ControllersOptions {
  readonly random: Random;
  readonly users: Readonly<Record<string, string | UserOptions>>;
  readonly rbac: boolean;
  readonly services: WebhookServices;
  readonly tls: boolean;
  readonly allowedHosts: readonly string[] | undefined;
  readonly logLength: number | undefined;
  readonly bookmarkEveryMs: number | undefined;
}

const embeddedClusterOptionNames: OptionNames<EmbeddedClusterOptions> = {
  ...{ crds: true, simulateWorkloads: true, controllers: true, pods: true, nodes: true },
  ...{ jobPodBackoffMs: true, users: true, rbac: true, services: true, port: true, tls: true },
  ...{
    allowedHosts: true,
    logLength: true,
    bookmarkEveryMs: true,
    clock: true,
    random: true,
    logger: true,
  },
};

/** Who has a token without being named. */
const administrator = 'system:admin';

const alwaysOn: readonly ControllerName[] = ['garbageCollector', 'namespaces'];

/** Defaults; ranges are checked by the parts. */
export function resolveEmbeddedClusterOptions(
  options: EmbeddedClusterOptions,
): ResolvedEmbeddedClusterOptions {
  const { simulateWorkloads = false, controllers = {}, users = {}, logLength } = options;
  const { rbac = false, services = {}, tls = false, allowedHosts } = options;
  const { random = systemRandom, logger, pods, nodes, jobPodBackoffMs } = options;
  const { bookmarkEveryMs } = options;
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
    allowedHosts,
    logLength,
    bookmarkEveryMs,
    logger,
    pods,
    nodes,
    jobPodBackoffMs,
  };
}
