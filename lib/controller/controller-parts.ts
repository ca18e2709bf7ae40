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

/** What the parts of one running controller share. */
export interface ControllerParts {
  readonly name: string;
  /** Reporter of events. */
  readonly reportingController: string;
  readonly kind: string;
  /** The kinds that it makes objects of. */
  readonly owns: readonly TypeReference<KubernetesObject>[];
  readonly queue: WorkQueue;
  readonly triggers: PendingTriggers;
  readonly hotLoops: HotLoopDetector | undefined;
  readonly lastErrors: LastErrors;
  readonly owned: OwnedKeys;
  /**
   * Whether `work` may be queued again: it is owned, and its cluster is there and synced; with
   * `cluster`: that very one, not another that was added under its name.
   */
  readonly mayQueue: (work: WorkKey, cluster?: ControllerCluster) => boolean;
  /** Ends the back-off of `work`, that may not be queued, and remembers it where it may come back. */
  readonly giveUp: (work: WorkKey) => void;
  readonly metrics: ControllerMetrics;
  readonly logger: Logger;
  readonly runtime: ResolvedRuntime;
}
