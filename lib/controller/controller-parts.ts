import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Logger } from '../system/logger.js';
import type { ControllerMetrics } from './controller-metrics.js';
import type { ResolvedRuntime } from './controller-runtime.js';
import type { HotLoopDetector } from './hot-loop-detector.js';
import type { LastErrors } from './last-errors.js';
import type { OwnedKeys } from './owned-keys.js';
import type { WorkKey } from './reconcile-key.js';
import type { ControllerCluster } from './running-cluster.js';
import type { PendingTriggers } from './trigger.js';
import type { WorkQueue } from './work-queue.js';

/** The shared parts of one running controller. */
export interface ControllerParts {
  readonly name: string;
  /** The reporter of events. */
  readonly reportingController: string;
  readonly kind: string;
  /** The kinds that the controller owns. */
  readonly owns: readonly TypeReference<KubernetesObject>[];
  readonly queue: WorkQueue;
  readonly triggers: PendingTriggers;
  readonly hotLoops: HotLoopDetector | undefined;
  readonly lastErrors: LastErrors;
  readonly owned: OwnedKeys;
  /**
   * Returns true if `work` may be queued again: it is owned, and its cluster is present and synced. If
   * `cluster` is given, it must be that very cluster, not another one added under the same name.
   */
  readonly mayQueue: (work: WorkKey, cluster?: ControllerCluster) => boolean;
  /** Ends the back-off of `work`, which may not be queued, and remembers it if it may return. */
  readonly giveUp: (work: WorkKey) => void;
  readonly metrics: ControllerMetrics;
  readonly logger: Logger;
  readonly runtime: ResolvedRuntime;
}
