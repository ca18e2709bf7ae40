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
 * The controllers inside the server. `nodes` makes the Nodes that pods run on, `pods` plays scheduler
 * and kubelet, `volumes` binds claims and makes the default StorageClass.
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
  /** Controllers that are to run or not to run. @defaultValue all run */
  readonly controllers?: Partial<Readonly<Record<ControllerName, boolean>>> | undefined;
  /** How pods are simulated. */
  readonly pods?: PodOptions | undefined;
  /** How many Nodes there are, at least 0. @defaultValue 1 */
  readonly nodes?: number | undefined;
  /**
   * How long a Job waits with a new pod after one failed, in milliseconds, at least 1; it doubles
   * with each failure in a row, up to 10 minutes. @defaultValue 10_000
   */
  readonly jobPodBackoffMs?: number | undefined;
  /** @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /** Names are made of it. @defaultValue the machine's */
  readonly random?: Random | undefined;
  /** Gets what failed and is tried again. @defaultValue none */
  readonly logger?: Logger | undefined;
}

/** {@link ControllersOptions} with nothing missing. */
export interface ResolvedControllersOptions {
  readonly isOn: (name: ControllerName) => boolean;
  readonly pods: ResolvedPodOptions;
  readonly nodes: number;
  readonly jobPodBackoffMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** @throws OperatorError `InvalidOption`: an option is out of its range. */
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
