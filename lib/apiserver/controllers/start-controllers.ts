import type { Loopback } from '../loopback.js';
import { startAutoscalerController } from './autoscaler/index.js';
import {
  startDefaultStorageClass,
  startServiceAccountController,
  startSimulatedNodes,
} from './cluster/index.js';
import { ControllerHost } from './controller-host.js';
import { resolveControllersOptions } from './controllers-options.js';
import type {
  ControllerName,
  ControllersOptions,
  ResolvedControllersOptions,
} from './controllers-options.js';
import { startCronJobController } from './cron-job/index.js';
import { startDaemonSetController } from './daemon-set/index.js';
import { startDeploymentController } from './deployment/index.js';
import { startDisruptionController } from './disruption/index.js';
import { startEndpointSliceController } from './endpoint-slice/index.js';
import { startGarbageCollector } from './garbage-collector/index.js';
import { startJobController } from './job/index.js';
import { startNamespaceController } from './namespace/index.js';
import { startKubelet, startScheduler } from './pod/index.js';
import { startReplicaSetController } from './replica-set/index.js';
import { startStatefulSetController } from './stateful-set/index.js';
import { startVolumeController } from './volume/index.js';
import { Workload } from './workload.js';

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
): Readonly<Record<ControllerName, (host: ControllerHost) => void>> {
  const { pods, nodes, jobPodBackoffMs } = options;
  return {
    garbageCollector: startGarbageCollector,
    namespaces: startNamespaceController,
    serviceAccounts: startServiceAccountController,
    nodes: (host) => startSimulatedNodes(host, nodes),
    pods: (host) => {
      startScheduler(host);
      startKubelet(host, pods);
    },
    replicaSets: startReplicaSetController,
    deployments: startDeploymentController,
    statefulSets: startStatefulSetController,
    daemonSets: startDaemonSetController,
    jobs: (host) => startJobController(host, { podBackoffMs: jobPodBackoffMs }),
    cronJobs: startCronJobController,
    endpointSlices: startEndpointSliceController,
    volumes: (host) => {
      startDefaultStorageClass(host);
      startVolumeController(host);
    },
    disruptionBudgets: startDisruptionController,
    autoscalers: startAutoscalerController,
  };
}
