import type { Logger } from '../system/logger.js';
import type { ControllerMetrics } from './controller-metrics.js';
import type { ResolvedRuntime } from './controller-runtime.js';
import type { HotLoopDetector } from './hot-loop-detector.js';
import type { PendingTriggers } from './trigger.js';
import type { WorkQueue } from './work-queue.js';

/** What the parts of one running controller share. */
export interface ControllerParts {
  readonly name: string;
  readonly kind: string;
  readonly queue: WorkQueue;
  readonly triggers: PendingTriggers;
  readonly hotLoops: HotLoopDetector | undefined;
  readonly metrics: ControllerMetrics;
  readonly logger: Logger;
  readonly runtime: ResolvedRuntime;
}
