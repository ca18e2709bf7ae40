import type { Clock } from '../../system/clock.js';
import { systemClock } from '../../system/clock.js';
import type { Logger } from '../../system/logger.js';
import { silentLogger } from '../../system/logger.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import { OperatorError } from '../../system/operator-error.js';
import type { Random } from '../../system/random.js';
import { systemRandom } from '../../system/random.js';
import { resolvePodOptions } from './pod/index.js';
import type { PodOptions, ResolvedPodOptions } from './pod/index.js';

/**
 * Names of the controllers inside the server. `nodes` creates the Nodes of the simulated pods, `pods`
 * simulates the scheduler and the kubelets, and `volumes` binds claims and creates the default StorageClass.
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
] as const;

/** One of {@link controllerNames}. */
export type ControllerName = (typeof controllerNames)[number];

/** Options of `startControllers`. */
export interface ControllersOptions {
  /** Controllers to switch on or off. @defaultValue all on */
  readonly controllers?: Partial<Readonly<Record<ControllerName, boolean>>> | undefined;
  /** Options of the simulated pods. */
  readonly pods?: PodOptions | undefined;
  /** The number of Nodes, at least 0. @defaultValue 1 */
  readonly nodes?: number | undefined;
  /**
   * Delay before a Job replaces a failed pod, in milliseconds, at least 1. It doubles with each consecutive
   * failure, up to 10 minutes.
   * @defaultValue 10_000
   */
  readonly jobPodBackoffMs?: number | undefined;
  /** Clock of the controllers. @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** Source of generated names. @defaultValue the system's */
  readonly random?: Random | undefined;
  /** Logs failed reconciles, which are retried. @defaultValue none */
  readonly logger?: Logger | undefined;
}

/** {@link ControllersOptions} with defaults. */
export interface ResolvedControllersOptions {
  readonly isOn: (name: ControllerName) => boolean;
  readonly pods: ResolvedPodOptions;
  readonly nodes: number;
  readonly jobPodBackoffMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Fills in the defaults. @throws OperatorError `InvalidOption`: an option is out of its range. */
export function resolveControllersOptions(
  options: ControllersOptions = {},
): ResolvedControllersOptions {
  const { controllers = {}, pods, nodes = 1, jobPodBackoffMs = 10_000 } = options;
  const { clock = systemClock, random = systemRandom, logger = silentLogger } = options;
  if (!(Number.isInteger(nodes) && nodes >= 0)) {
    throw new OperatorError('InvalidOption', `nodes: want 0 or more, got ${nodes}`);
  }
  if (!(jobPodBackoffMs >= 1)) {
    const message = `jobPodBackoffMs: want at least 1, got ${jobPodBackoffMs}`;
    throw new OperatorError('InvalidOption', message);
  }
  refuseUnknownOptions<ControllersOptions>('startControllers', options, {
    ...{ controllers, pods, nodes, jobPodBackoffMs, clock, random, logger },
  });
  const isOn = (name: ControllerName): boolean => controllers[name] ?? true;
  return { isOn, pods: resolvePodOptions(pods), nodes, jobPodBackoffMs, clock, random, logger };
}
