import type { InformerStatus, QuarantinedObject } from '../../cache/index.js';
import type {
  ActiveReconcile,
  HotLoop,
  LastError,
  ReconciledEvent,
  SourceStatus,
} from '../../controller/index.js';
import type { ObjectReference } from '../../object/index.js';
import type { ManagerStatus, RunnableStatus } from '../manager-entries.js';
import type { ShardingStatus } from '../sharding/index.js';
import type { Shown } from './html.js';

export interface ShownObject extends ObjectReference {
  /** `''` for the only cluster. */
  readonly cluster: string;
}

export interface ShownCause {
  /** `more` stands for further causes, which are not shown. */
  readonly type: 'event' | 'source' | 'acquired' | 'requeue' | 'retry' | 'more';
  /** Description for people. For a change it contains only the paths, no values. */
  readonly text: string;
  /** The changed object, for an `event`. */
  readonly object?: ShownObject | undefined;
}

export interface ShownKey {
  readonly controller: string;
  readonly cluster: string;
  /** `namespace/name`, or `name`. */
  readonly key: string;
  readonly object: ShownObject;
}

/** A running reconcile. */
export interface ShownActive
  extends ShownKey, Pick<ActiveReconcile, 'reconcileID' | 'lastedMs' | 'heldMs'> {
  readonly causes: readonly ShownCause[];
}

/** A finished reconcile. */
export interface ShownRecent
  extends ShownKey, Pick<ReconciledEvent, 'reconcileID' | 'outcome' | 'durationMs' | 'againInMs'> {
  readonly at: string;
  readonly causes: readonly ShownCause[];
  readonly error: string | undefined;
}

/** A waiting key. */
export interface ShownQueued extends ShownKey {
  readonly priority: number;
  readonly waits: 'worker' | 'time';
  /** Milliseconds: time waited for a worker, or remaining time until it is due. */
  readonly ms: number;
}

/** The failure of a key's last reconcile. */
export interface ShownFailure
  extends ShownKey, Pick<LastError, 'outcome' | 'message' | 'failures'> {
  readonly at: string;
}

/** A key that repeatedly writes one object. */
export interface ShownHotLoop extends ShownKey, Pick<HotLoop, 'writesPerMinute' | 'delayMs'> {
  readonly written: ShownObject;
  readonly paths: Shown<string>;
  readonly managers: Shown<string>;
}

export interface ShownSource extends Omit<SourceStatus, 'problem'> {
  readonly controller: string;
  readonly cluster: string;
  readonly problem: string | undefined;
}

/** Counts of a controller. */
export interface ShownController {
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly phase: string;
  readonly isActive: boolean;
  readonly waiting: number;
  readonly delayed: number;
  readonly active: number;
  readonly held: number;
  readonly hotLoops: number;
  readonly failing: number;
  /** Number of sources that are not synced, are parked, or have a problem. */
  readonly troubledSources: number;
}

export interface ShownCache extends Omit<InformerStatus, 'problem' | 'quarantined'> {
  readonly cluster: string;
  /** Estimated bytes of heap, from a sample; an upper bound. */
  readonly bytes: number;
  readonly problem: string | undefined;
  readonly remedy: string | undefined;
}

/** An object that a cache can't read. */
export interface ShownQuarantined extends ShownObject, QuarantinedObject {}

/** A webhook served by this process. */
export interface ShownWebhook {
  readonly type: 'validating' | 'mutating' | 'conversion';
  readonly name: string;
  readonly path: string;
  /** Port of the webhook server; undefined if the server does not listen. */
  readonly port: number | undefined;
}

/** Sharding of keys over replicas. */
export interface ShownShards extends Omit<ShardingStatus, 'members' | 'ranges'> {
  readonly members: Shown<string>;
}

/**
 * Everything that the inspector shows of a manager, also served as `/status.json`. Long lists are cut and
 * have a count of the rest.
 */
export interface Overview extends Pick<ManagerStatus, 'phase' | 'isLeading' | 'leader'> {
  readonly at: string;
  /** True if replicas compete for a Lease; if not, this process always leads. */
  readonly isElected: boolean;
  readonly clusters: Shown<string>;
  readonly controllers: Shown<ShownController>;
  readonly active: Shown<ShownActive>;
  readonly held: Shown<ShownActive>;
  readonly queued: Shown<ShownQueued>;
  readonly recent: Shown<ShownRecent>;
  readonly failures: Shown<ShownFailure>;
  readonly hotLoops: Shown<ShownHotLoop>;
  readonly caches: Shown<ShownCache>;
  readonly quarantined: Shown<ShownQuarantined>;
  readonly troubledSources: Shown<ShownSource>;
  readonly webhooks: Shown<ShownWebhook>;
  readonly runnables: Shown<RunnableStatus>;
  readonly shards: ShownShards | undefined;
}
