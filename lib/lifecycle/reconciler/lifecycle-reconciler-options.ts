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

/** The context that a hook gets beside the configuration. */
export interface HookContext {
  readonly client: Client;
  readonly logger: Logger;
  readonly recorder: Recorder;
  readonly signal: AbortSignal;
}

/** Options of `LifecycleReconciler`: the required parts, and hooks. */
export interface LifecycleReconcilerOptions<CR extends LifecycleObject> {
  readonly crManager: CrManager<CR>;
  /** May read from a cache. The caller owns it. */
  readonly client: Client & { readonly live?: Client };
  /** The operator's own namespace, for callbacks. */
  readonly namespace: string;
  /** Called before and after each operation on an object. @defaultValue no callbacks */
  readonly dispatcher?: Pick<Callbacks<NoInfer<CR>>, 'invokeCallbacks' | 'handles'> | undefined;
  /**
   * The label with the version that created the object. @defaultValue 'operator-builder.io/create-version'
   */
  readonly createVersionLabel?: string | undefined;
  /**
   * The label with the version that last updated the object. @defaultValue
   * 'operator-builder.io/update-version'
   */
  readonly updateVersionLabel?: string | undefined;
  /** The annotation with the paths that were applied. @defaultValue 'operator-builder.io/last-applied' */
  readonly lastAppliedAnnotation?: string | undefined;
  /**
   * Holds the configuration until its whole system is deleted. @defaultValue 'operator-builder.io/lifecycle'
   */
  readonly finalizer?: string | undefined;
  /**
   * Finalizers of a previous operator, for example one in Go. They are replaced by ours, and removed at the
   * end of a deletion. @defaultValue no finalizers
   */
  readonly legacyFinalizers?: readonly string[] | undefined;
  /**
   * Annotations that pause a configuration if one of them has exactly this value, in addition to
   * `operator-builder.io/paused: "true"` and `cluster.x-k8s.io/paused: "true"`. @defaultValue no others
   */
  readonly pauseAnnotations?: PauseAnnotations | undefined;
  /**
   * Whether to prune a CustomResourceDefinition, Namespace or PersistentVolumeClaim that is no longer
   * desired, with all user data in it, even without an annotation that allows it.
   * @defaultValue always false
   */
  readonly mayPrune?: ((object: KubernetesObject) => boolean) | undefined;
  /**
   * The interval after which a healthy configuration is reconciled again, in milliseconds. @defaultValue
   * 300_000
   */
  readonly perishablesSyncIntervalMs?: number | undefined;
  /** Whether the configuration is namespaced. @defaultValue the scope of its kind */
  readonly namespacedCr?: boolean | undefined;
  /** Whether its status is a subresource. @defaultValue true */
  readonly subresourceEnabled?: boolean | undefined;
  /**
   * The handling of desired objects that exist before the first deployment and have no controlling owner:
   * `wait` for their deletion, or `adopt` them. @defaultValue 'wait'
   */
  readonly orphans?: 'wait' | 'adopt' | undefined;
  /**
   * Whether others may change the content of an object after its creation: its labels and annotations are
   * reconciled, its data is never overwritten. @defaultValue true for ConfigMaps and Secrets
   */
  readonly isMutable?: ((object: KubernetesObject) => boolean) | undefined;
  /**
   * The time-out of a callback, a hook or `getAllResources`, in milliseconds, above 0. On time-out its signal
   * is aborted, and it counts as failed. @defaultValue 60_000
   */
  readonly callbackTimeoutMs?: number | undefined;
  /**
   * Renews expiring objects, such as certificates. Called in each reconcile after the first deployment has
   * begun, after the objects are applied, even if one of them fails.
   */
  readonly perishablesSynchronizer?: ((cr: CR, context: HookContext) => Promise<void>) | undefined;
  /** Updates the operator's own configuration, before its objects are applied. */
  readonly controllerConfigUpdater?: ((cr: CR, context: HookContext) => Promise<void>) | undefined;
  /**
   * Called before any change. A result ends the reconcile and sets the time of the next one; undefined
   * continues.
   */
  readonly sanityChecker?:
    ((cr: CR, context: HookContext) => Promise<SanityResult | undefined>) | undefined;
  /** Called once for each kind that needs a watch. @defaultValue the controller watches the kind */
  readonly watchRegistrator?: ((type: TypeReference<KubernetesObject>) => void) | undefined;
  /** Called once before the first object is created. */
  readonly preCreateHook?: ((cr: CR, context: HookContext) => Promise<void>) | undefined;
  readonly recorder: Recorder;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** @defaultValue logs nothing */
  readonly logger?: Logger | undefined;
}

/** The result of a sanity check that ends a reconcile. */
export interface SanityResult {
  /** The delay until the next reconcile, in milliseconds; if absent, the next change triggers it. */
  readonly requeueAfterMs?: number | undefined;
}
