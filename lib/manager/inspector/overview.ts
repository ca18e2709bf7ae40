import type { Missing } from '../../cache/missing.js';
import type { ReconcileOutcome } from '../../controller/controller-event.js';
import type { ObjectReference } from '../../object/object-reference.js';
import type { ManagerPhase } from '../manager-status.js';
import type { RunnableState } from '../runnable-group.js';
import type { RunnablePhase } from '../runnable.js';
import type { Shown } from './shown.js';

/** An object of a cluster. */
export interface ShownObject extends ObjectReference {
  /** `''`: the only one. */
  readonly cluster: string;
}

/** Why something is reconciled. */
export interface ShownCause {
  /** `more`: there are more causes than are shown. */
  readonly type: 'event' | 'source' | 'acquired' | 'requeue' | 'retry' | 'more';
  /** For people: what happened (to `object`). Of what changed only the paths, no values. */
  readonly text: string;
  /** What changed, of an `event`. */
  readonly object?: ShownObject | undefined;
}

/** A key of a controller. */
export interface ShownKey {
  readonly controller: string;
  readonly cluster: string;
  /** `namespace/name`, or `name`. */
  readonly key: string;
  readonly object: ShownObject;
}

/** A reconcile that goes on. */
export interface ShownActive extends ShownKey {
  readonly reconcileID: string;
  readonly lastedMs: number;
  /** How long its time has been over; 0: it is not. */
  readonly heldMs: number;
  readonly causes: readonly ShownCause[];
}

/** A reconcile that has ended. */
export interface ShownRecent extends ShownKey {
  readonly reconcileID: string;
  readonly at: string;
  readonly outcome: ReconcileOutcome;
  readonly durationMs: number;
  readonly againInMs: number | undefined;
  readonly causes: readonly ShownCause[];
  readonly error: string | undefined;
}

/** A key that waits. */
export interface ShownQueued extends ShownKey {
  readonly priority: number;
  readonly waits: 'worker' | 'time';
  /** For a worker: so far. For its time: how long yet. */
  readonly ms: number;
}

/** Why the last reconcile of a key failed. */
export interface ShownFailure extends ShownKey {
  readonly outcome: ReconcileOutcome;
  readonly message: string;
  readonly failures: number;
  readonly at: string;
}

/** A key that keeps writing one object. */
export interface ShownHotLoop extends ShownKey {
  readonly written: ShownObject;
  readonly writesPerMinute: number;
  readonly paths: Shown<string>;
  readonly managers: Shown<string>;
  readonly delayMs: number;
}

/** A source that needs a look. */
export interface ShownSource {
  readonly controller: string;
  readonly cluster: string;
  readonly source: string;
  readonly synced: boolean;
  readonly parked: boolean;
  readonly problem: string | undefined;
}

/** A controller, in numbers. */
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
  /** Sources that are not synced, are parked, or have a problem. */
  readonly troubledSources: number;
}

/** A kind in a cache. */
export interface ShownCache {
  readonly cluster: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadataOnly: boolean;
  readonly objects: number;
  /** About so many bytes of heap, from a sample; an upper bound. */
  readonly bytes: number;
  readonly synced: boolean;
  readonly parked: boolean;
  readonly problem: string | undefined;
  /** What has to be granted or installed. */
  readonly missing: Missing | undefined;
  readonly remedy: string | undefined;
}

/** An object that a cache can't take in. */
export interface ShownQuarantined extends ShownObject {
  readonly resourceVersion: string;
  readonly reason: string;
}

/** A webhook that is served here. */
export interface ShownWebhook {
  readonly type: 'validating' | 'mutating' | 'conversion';
  readonly name: string;
  readonly path: string;
  /** Of its server; undefined: it does not listen. */
  readonly port: number | undefined;
}

/** Something that the manager runs beside controllers. */
export interface ShownRunnable {
  readonly name: string;
  readonly phase: RunnablePhase;
  readonly state: RunnableState;
  readonly url: string | undefined;
}

/** How replicas share keys. */
export interface ShownShards {
  readonly phase: string;
  readonly member: string;
  readonly leader: string | undefined;
  readonly members: Shown<string>;
  readonly epoch: number;
  /** Of all hashes, from 0 to 1. */
  readonly share: number;
}

/** All that the inspector shows of a manager; `/status.json` is this. Lists are cut, and say so. */
export interface Overview {
  /** When it was taken. */
  readonly at: string;
  readonly phase: ManagerPhase;
  /** Whether replicas compete for a Lease; if not, this process leads by itself. */
  readonly isElected: boolean;
  readonly isLeading: boolean;
  readonly leader: string | undefined;
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
  readonly runnables: Shown<ShownRunnable>;
  readonly shards: ShownShards | undefined;
}
