import type { Client } from '../../client/client.js';
import type { PauseAnnotations } from '../../status/index.js';
import type { Recorder } from '../../events/recorder.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { TypeReference } from '../../object/resource-type.js';
import type { Clock } from '../../system/clock.js';
import type { Logger } from '../../system/logger.js';
import type { Callbacks } from '../callbacks/callback-dispatcher.js';
import type { CrManager } from '../cr-manager.js';
import type { LifecycleObject } from '../lifecycle-status.js';

/** What a hook is handed beside the configuration. */
export interface HookContext {
  readonly client: Client;
  readonly logger: Logger;
  readonly recorder: Recorder;
  readonly signal: AbortSignal;
}

/** Options of `LifecycleReconciler`: what is always given, and hooks. */
export interface LifecycleReconcilerOptions<CR extends LifecycleObject> {
  readonly crManager: CrManager<CR>;
  /** Its reads may come from a cache; it stays the caller's. */
  readonly client: Client & { readonly live?: Client };
  /** The operator's own namespace, for callbacks. */
  readonly namespace: string;
  /** Told before and after each thing that is done to an object. @defaultValue nobody */
  readonly dispatcher?: Pick<Callbacks<NoInfer<CR>>, 'invokeCallbacks' | 'handles'> | undefined;
  /** On each object: the version that made it. @defaultValue 'operator-builder.io/create-version' */
  readonly createVersionLabel?: string | undefined;
  /** On each object: the version that last changed it. @defaultValue 'operator-builder.io/update-version' */
  readonly updateVersionLabel?: string | undefined;
  /** On each object: the paths that were set. @defaultValue 'operator-builder.io/last-applied' */
  readonly lastAppliedAnnotation?: string | undefined;
  /** On the configuration, until all of it is gone. @defaultValue 'operator-builder.io/lifecycle' */
  readonly finalizer?: string | undefined;
  /**
   * Finalizers of the operator that had the configurations before, as one in Go: replaced by ours, and
   * removed at the end of a deletion. @defaultValue none
   */
  readonly legacyFinalizers?: readonly string[] | undefined;
  /**
   * Annotations that pause a configuration that has one of them with exactly this value, beside
   * `operator-builder.io/paused: "true"` and `cluster.x-k8s.io/paused: "true"`. @defaultValue none
   */
  readonly pauseAnnotations?: PauseAnnotations | undefined;
  /**
   * Whether a CustomResourceDefinition, Namespace or PersistentVolumeClaim that is no longer desired
   * is pruned, with all that users have in it, though no annotation on it says so.
   * @defaultValue none is
   */
  readonly mayPrune?: ((object: KubernetesObject) => boolean) | undefined;
  /** How often a healthy configuration is looked at again, in milliseconds. @defaultValue 300_000 */
  readonly perishablesSyncIntervalMs?: number | undefined;
  /** Whether the configuration lives in a namespace. @defaultValue what its kind says */
  readonly namespacedCr?: boolean | undefined;
  /** Whether its status is a subresource. @defaultValue true */
  readonly subresourceEnabled?: boolean | undefined;
  /**
   * What is done about desired objects that exist before the first deployment, and are nobody's:
   * `wait` for them to go, or `adopt` them. @defaultValue 'wait'
   */
  readonly orphans?: 'wait' | 'adopt' | undefined;
  /**
   * Whether what is in an object is others' to change once it was made: its labels and annotations are
   * kept as they should be, its data never overwritten. @defaultValue ConfigMaps and Secrets
   */
  readonly isMutable?: ((object: KubernetesObject) => boolean) | undefined;
  /**
   * How long a callback, a hook or `getAllResources` may take, in milliseconds, above 0; then its signal
   * is aborted, and it counts as failed. @defaultValue 60_000
   */
  readonly callbackTimeoutMs?: number | undefined;
  /**
   * Renews what expires, as certificates. Called in each reconcile once the first deployment has begun,
   * after the objects, also where one of them fails.
   */
  readonly perishablesSynchronizer?: ((cr: CR, context: HookContext) => Promise<void>) | undefined;
  /** Brings the operator's own configuration up to date, before its objects. */
  readonly controllerConfigUpdater?: ((cr: CR, context: HookContext) => Promise<void>) | undefined;
  /**
   * Looked at before anything is changed: what it returns says that the pass ends here, and when the
   * next one is; undefined: all is well.
   */
  readonly sanityChecker?:
    ((cr: CR, context: HookContext) => Promise<SanityResult | undefined>) | undefined;
  /** Told of each kind that has to be watched, once. @defaultValue the controller watches it */
  readonly watchRegistrator?: ((type: TypeReference<KubernetesObject>) => void) | undefined;
  /** Called once before the first object is made. */
  readonly preCreateHook?: ((cr: CR, context: HookContext) => Promise<void>) | undefined;
  readonly recorder: Recorder;
  /** @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /** @defaultValue drops everything */
  readonly logger?: Logger | undefined;
}

/** What a sanity check ends a pass with. */
export interface SanityResult {
  /** When to look again, in milliseconds; absent: when something changes. */
  readonly requeueAfterMs?: number | undefined;
}
