import {
  systemClock,
  refuseUnknownOptions,
  silentLogger,
  OperatorError,
  systemRandom,
} from '../../system/index.js';
import type { Clock, Logger, Random, Resolved } from '../../system/index.js';
import type { Loopback } from '../loopback.js';
import { AutoscalerController } from './autoscaler-controller.js';
import {
  startDefaultStorageClass,
  startKubernetesService,
  startServiceAccountController,
} from './cluster-objects.js';
import { startNodeTaints, startSimulatedNodes } from './simulated-nodes.js';
import { startControllerEvents } from './controller-events.js';
import { ControllerHost } from './controller-host.js';
import { CronJobController } from './cron-job-controller.js';
import { DaemonSetController } from './daemon-set-controller.js';
import { DeploymentController } from './deployment-controller.js';
import { startDisruptionController } from './disruption-controller.js';
import { EndpointSliceController } from './endpoint-slice-controller.js';
import { GarbageCollector } from './garbage-collector.js';
import { JobController } from './job-controller.js';
import { MetricRules } from './metric-rules.js';
import { NamespaceController } from './namespace-controller.js';
import { resolvePodOptions } from './pod-behavior.js';
import { Kubelet } from './kubelet.js';
import { Scheduler } from './scheduler.js';
import type { PodOptions, ResolvedPodOptions } from './pod-behavior.js';
import { startQuotaController } from './quota-controller.js';
import { ReplicaSetController } from './replica-set-controller.js';
import { RootCertificate, startRootCertificates } from './root-certificate.js';
import { StatefulSetController } from './stateful-set-controller.js';
import { VolumeController } from './volume-controller.js';
import { Workload } from './work-queue.js';

/** The running controllers of a server. */
export interface Controllers {
  /** Resolves when no reconcile runs. Timers don't count: pods may be about to become ready. */
  quiet(): Promise<void>;
  /**
   * Resolves when no work is left: no pod is about to change, and nothing waits for a retry. Work that may
   * never end does not count: crash loops, schedules, deadlines, and keys that failed more than five times in
   * a row.
   */
  settled(): Promise<void>;
  /** Milliseconds until the next timer that `settled` waits for; undefined without one. */
  readonly nextWorkInMs: number | undefined;
  /** Stops all controllers. No timer remains. */
  stop(): void;
}

/**
 * Starts the controllers inside a server: garbage collection, namespace deletion, and the simulation of
 * workloads, by the rules of kube-controller-manager.
 * @throws OperatorError `InvalidOption`: an option is out of its range.
 */
export function startControllers(
  loopback: Loopback,
  options: ControllersOptions = {},
): Controllers {
  const resolved = resolveControllersOptions(options);
  const { clock, random, logger } = resolved;
  const workload = new Workload(clock, logger);
  const host = new ControllerHost({ loopback, clock, random, workload });
  for (const [name, start] of Object.entries(starters(resolved))) {
    if (resolved.isOn(name as ControllerName)) start(host);
  }
  host.start();
  return {
    quiet: () => workload.quiet(),
    settled: () => workload.settled(),
    get nextWorkInMs() {
      return workload.nextTimerMs;
    },
    stop: () => host.stop(),
  };
}

function starters(
  options: ResolvedControllersOptions,
): Readonly<Record<ControllerName, (host: ControllerHost) => unknown>> {
  const { pods, metrics, nodes, jobPodBackoffMs, rootCertificate } = options;
  return {
    garbageCollector: (host) => new GarbageCollector(host),
    namespaces: (host) => new NamespaceController(host),
    serviceAccounts: startServiceAccountController,
    nodes: (host) => startSimulatedNodes(host, nodes),
    pods: (host) => {
      startNodeTaints(host);
      new Scheduler(host);
      new Kubelet(host, { ...pods, rootCertificates: options.isOn('rootCertificates') });
    },
    replicaSets: (host) => new ReplicaSetController(host),
    deployments: (host) => new DeploymentController(host),
    statefulSets: (host) => new StatefulSetController(host),
    daemonSets: (host) => new DaemonSetController(host),
    jobs: (host) => new JobController(host, { podBackoffMs: jobPodBackoffMs }),
    cronJobs: (host) => new CronJobController(host),
    endpointSlices: (host) => new EndpointSliceController(host),
    volumes: (host) => {
      startDefaultStorageClass(host);
      new VolumeController(host);
    },
    disruptionBudgets: startDisruptionController,
    autoscalers: (host) => new AutoscalerController(host, metrics),
    quotas: startQuotaController,
    kubernetesService: startKubernetesService,
    rootCertificates: (host) => startRootCertificates(host, rootCertificate),
    events: startControllerEvents,
  };
}

/**
 * Names of the controllers inside the server. `nodes` creates the Nodes of the simulated pods, `pods`
 * simulates the scheduler, the kubelets and the taints of nodes that are not ready, `volumes` binds claims and
 * creates the default StorageClass, `kubernetesService` creates the Service of the API server in the namespace
 * `default`, `rootCertificates` keeps the ConfigMap `kube-root-ca.crt` in each namespace, and `events` writes the
 * Events of all controllers.
 */
export const controllerNames = [
  'garbageCollector',
  'namespaces',
  'serviceAccounts',
  'nodes',
  'pods',
  'replicaSets',
  'deployments',
  'statefulSets',
  'daemonSets',
  'jobs',
  'cronJobs',
  'endpointSlices',
  'volumes',
  'disruptionBudgets',
  'autoscalers',
  'quotas',
  'kubernetesService',
  'rootCertificates',
  'events',
] as const;

/** One of {@link controllerNames}. */
export type ControllerName = (typeof controllerNames)[number];

/** Options of `startControllers`. */
export interface ControllersOptions {
  /** Controllers to switch on or off. @defaultValue all on */
  readonly controllers?: Partial<Readonly<Record<ControllerName, boolean>>> | undefined;
  readonly pods?: PodOptions | undefined;
  /** The metrics of pods and other systems, for autoscalers. @defaultValue none */
  readonly metrics?: MetricRules | undefined;
  /** The number of Nodes, at least 0. @defaultValue 1 */
  readonly nodes?: number | undefined;
  /**
   * Delay before a Job replaces a failed pod, in milliseconds, at least 1. The delay doubles with each
   * consecutive failure, up to 10 minutes.
   * @defaultValue 10_000
   */
  readonly jobPodBackoffMs?: number | undefined;
  /** The certificate in the ConfigMaps `kube-root-ca.crt`. @defaultValue a fixed certificate that signed nothing */
  readonly rootCertificate?: RootCertificate | undefined;
  /** Clock of the controllers. @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** Source of generated names. @defaultValue the system's random source */
  readonly random?: Random | undefined;
  /** Logs failed reconciles, which are retried. @defaultValue no logs */
  readonly logger?: Logger | undefined;
}

/** {@link ControllersOptions} with defaults. */
type ResolvedControllersOptions = Resolved<Omit<ControllersOptions, 'controllers' | 'pods'>> & {
  readonly isOn: (name: ControllerName) => boolean;
  readonly pods: ResolvedPodOptions;
};

/** Fills in the defaults. @throws OperatorError `InvalidOption`: an option is out of its range. */
function resolveControllersOptions(options: ControllersOptions): ResolvedControllersOptions {
  const { controllers = {}, pods, nodes = 1, jobPodBackoffMs = 10_000 } = options;
  const { metrics = new MetricRules(), rootCertificate = new RootCertificate() } = options;
  const { clock = systemClock, random = systemRandom, logger = silentLogger } = options;
  if (!(Number.isInteger(nodes) && nodes >= 0)) {
    throw new OperatorError('InvalidOption', `nodes: want 0 or more, got ${nodes}`);
  }
  if (!(jobPodBackoffMs >= 1)) {
    const message = `jobPodBackoffMs: want at least 1, got ${jobPodBackoffMs}`;
    throw new OperatorError('InvalidOption', message);
  }
  refuseUnknownOptions<ControllersOptions>('startControllers', options, {
    ...{ controllers, pods, metrics, nodes, jobPodBackoffMs, rootCertificate },
    ...{ clock, random, logger },
  });
  const isOn = (name: ControllerName): boolean => controllers[name] ?? true;
  const own = { isOn, pods: resolvePodOptions(pods), metrics, nodes, jobPodBackoffMs };
  return { ...own, rootCertificate, clock, random, logger };
}
