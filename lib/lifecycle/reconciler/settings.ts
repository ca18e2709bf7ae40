import { ObjectMerger } from '../../apply/index.js';
import type { Client } from '../../client/index.js';
import type { PauseAnnotations } from '../../status/index.js';
import type { Recorder } from '../../events/index.js';
import type { KubernetesObject, TypeReference } from '../../object/index.js';
import type { Clock, Logger, OptionNames } from '../../system/index.js';
import type { Callbacks } from '../callbacks.js';
import type { CrManager, LifecycleObject, LifecycleStatus } from '../lifecycle-status.js';
import { commonPauseAnnotations } from '../../status/index.js';
import {
  dns1123SubdomainProblem,
  qualifiedNameProblem,
  ConfigMap,
  Secret,
  apiVersionOf,
} from '../../object/index.js';
import {
  systemClock,
  silentLogger,
  refuseUnknownOptions,
  OperatorError,
} from '../../system/index.js';
import { CallbackDispatcher } from '../callbacks.js';
import { Deletions } from './owned-objects.js';
import { OwedCallbacks } from './user-code.js';

/** The context that a hook gets besides the configuration. */
export interface HookContext {
  readonly client: Client;
  readonly logger: Logger;
  readonly recorder: Recorder;
  readonly signal: AbortSignal;
}

/** Options of `LifecycleReconciler`: the required parts, and hooks. */
export interface LifecycleReconcilerOptions<CR extends LifecycleObject> {
  readonly crManager: CrManager<CR>;
  /** The client of reconciles whose request gives none; may read from a cache. The reconciler does not close it. */
  readonly client: Client & { readonly live?: Client };
  /** The operator's own namespace, for callbacks. */
  readonly namespace: string;
  /** Called before and after each operation on an object. @defaultValue no callbacks */
  readonly dispatcher?: Callbacks<NoInfer<CR>> | undefined;
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
   * Finalizers of a previous operator, for example one in Go. The reconciler replaces them by its own, and
   * removes them at the end of a deletion. @defaultValue no finalizers
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
  /** Whether the status of the configuration is a subresource. @defaultValue true */
  readonly subresourceEnabled?: boolean | undefined;
  /**
   * The handling of desired objects that exist and have no controlling owner: `wait` for their deletion, or `adopt`
   * them. @defaultValue 'wait'
   */
  readonly orphans?: 'wait' | 'adopt' | undefined;
  /**
   * Whether users and other controllers may change the content of an object after its creation. If so, only
   * its labels and annotations are reconciled; its data is never overwritten. @defaultValue true for
   * ConfigMaps and Secrets
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
   * Called before objects of the system are written, after the finalizer, `preCreateHook` and the first phase. A result
   * ends the reconcile and sets the time of the next one; undefined continues.
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

type Optional = 'perishablesSynchronizer' | 'controllerConfigUpdater' | 'sanityChecker';
type StayOptional = Optional | 'watchRegistrator' | 'preCreateHook' | 'namespacedCr';

type Options = LifecycleReconcilerOptions<LifecycleObject>;

/**
 * By CrManager: the option that messages name in place of `getAllResources`. `lifecycle` makes a CrManager from its own
 * options, whose names are the only ones that its users know.
 */
const listNames = new WeakMap<object, string>();

/** Makes messages about the desired objects of `manager` name the option `name` instead of `getAllResources`. */
export function nameList(manager: object, name: string): void {
  listNames.set(manager, name);
}

/** {@link LifecycleReconcilerOptions} with defaults applied. */
export type Settings = {
  readonly [K in Exclude<keyof Options, StayOptional>]-?: Exclude<Options[K], undefined>;
} & Pick<Options, StayOptional> & {
    readonly crManager: Required<CrManager<LifecycleObject>>;
    /** The name that users know for the function that lists the desired objects. */
    readonly listName: string;
    readonly merger: ObjectMerger;
    readonly deletions: Deletions;
    readonly owedCallbacks: OwedCallbacks;
    /** The number of upgrades that each version has begun, by the UID of the configuration. */
    readonly begun: Map<string, Map<string, number>>;
  };

/**
 * Fills in the defaults.
 * @throws OperatorError `InvalidOption`: an option is missing, or a name or a time out of its range.
 */
export function resolveSettings<CR extends LifecycleObject>(
  given: LifecycleReconcilerOptions<CR>,
): Settings {
  // The operator's code gets only configurations of the kind of `crManager`.
  const options = given as unknown as Options;
  refuseMissing(options);
  const { createVersionLabel = 'operator-builder.io/create-version' } = options;
  const { updateVersionLabel = 'operator-builder.io/update-version' } = options;
  const { lastAppliedAnnotation = 'operator-builder.io/last-applied' } = options;
  const { finalizer = 'operator-builder.io/lifecycle' } = options;
  const { dispatcher = new CallbackDispatcher(), perishablesSyncIntervalMs = 300_000 } = options;
  const { subresourceEnabled = true, orphans = 'wait', isMutable = isConfiguration } = options;
  const { callbackTimeoutMs = 60_000 } = options;
  const { clock = systemClock, logger = silentLogger, crManager } = options;
  const { legacyFinalizers = [], mayPrune = () => false } = options;
  const pauseAnnotations = { ...commonPauseAnnotations, ...options.pauseAnnotations };
  const names = { createVersionLabel, updateVersionLabel, lastAppliedAnnotation, finalizer };
  refuseNames([
    ...Object.entries(names),
    ...legacyFinalizers.map((name) => ['legacyFinalizers', name] as const),
    ...Object.keys(pauseAnnotations).map((name) => ['pauseAnnotations', name] as const),
  ]);
  if (!(perishablesSyncIntervalMs > 0)) {
    throw invalid(`perishablesSyncIntervalMs ${perishablesSyncIntervalMs}: want more than 0`);
  }
  if (!(callbackTimeoutMs > 0)) {
    throw invalid(`callbackTimeoutMs ${callbackTimeoutMs}: want more than 0`);
  }
  if (crManager.status !== undefined && crManager.withStatus === undefined) {
    throw invalid(
      'crManager has status, and no withStatus, so the status could not be written; add withStatus',
    );
  }
  const problem = dns1123SubdomainProblem(options.namespace);
  if (problem !== undefined) throw invalid(`namespace: ${problem}`);
  refuseUnknownOptions('LifecycleReconciler', options, reconcilerOptionNames);
  return {
    ...options,
    ...names,
    ...{ dispatcher, perishablesSyncIntervalMs, subresourceEnabled, orphans, isMutable },
    ...{ clock, logger, callbackTimeoutMs, crManager: resolveCrManager(crManager) },
    ...{ legacyFinalizers, pauseAnnotations, mayPrune },
    listName: listNames.get(crManager) ?? 'getAllResources',
    ...{
      merger: new ObjectMerger({ lastAppliedAnnotation, clock, logger }),
      deletions: new Deletions(),
    },
    ...{ owedCallbacks: new OwedCallbacks(), begun: new Map<string, Map<string, number>>() },
  };
}

const reconcilerOptionNames: OptionNames<LifecycleReconcilerOptions<never>> = {
  ...{ crManager: true, client: true, namespace: true, dispatcher: true, recorder: true },
  ...{ createVersionLabel: true, updateVersionLabel: true, lastAppliedAnnotation: true },
  ...{ finalizer: true, legacyFinalizers: true, pauseAnnotations: true, mayPrune: true },
  ...{ perishablesSyncIntervalMs: true, namespacedCr: true, subresourceEnabled: true },
  ...{ orphans: true, isMutable: true, callbackTimeoutMs: true, perishablesSynchronizer: true },
  ...{ controllerConfigUpdater: true, sanityChecker: true, watchRegistrator: true },
  ...{ preCreateHook: true, clock: true, logger: true },
};

function refuseNames(names: readonly (readonly [string, string])[]): void {
  for (const [name, value] of names) {
    const problem = qualifiedNameProblem(value);
    if (problem !== undefined) throw invalid(`${name} ${value}: ${problem}`);
  }
}

/** Plain JavaScript can omit required options. */
function refuseMissing(options: Partial<Options>): void {
  const { crManager, client, recorder, namespace } = options;
  const needed = { crManager, client, recorder, namespace };
  const missing = Object.entries(needed).filter(([, value]) => value === undefined);
  if (missing.length > 0) throw invalid(`${missing.map(([name]) => name).join(', ')}: missing`);
  const methods = (['getAllResources', 'getDependantResourceTypes'] as const).filter(
    (name) => typeof crManager?.[name] !== 'function',
  );
  if (methods.length > 0) throw invalid(`crManager: no method ${methods.join(', ')}`);
  if (crManager?.type === undefined) throw invalid('crManager: no type: want a ResourceType');
}

function resolveCrManager(
  manager: CrManager<LifecycleObject>,
): Required<CrManager<LifecycleObject>> {
  const status = (cr: LifecycleObject): LifecycleStatus =>
    manager.status === undefined ? (cr.status ?? {}) : (manager.status(cr) ?? {});
  const isNew = (cr: LifecycleObject): boolean => {
    const { operatorVersion = '', observedVersion = '' } = status(cr);
    return operatorVersion === '' && observedVersion === '';
  };
  return {
    type: manager.type,
    status,
    isCreating: (cr) => manager.isCreating?.(cr) ?? isNew(cr),
    withStatus: (cr, next) =>
      manager.withStatus?.(cr, next) ?? { ...cr, status: { ...cr.status, ...next } },
    getAllResources: (cr) => manager.getAllResources(cr),
    getDependantResourceTypes: () => manager.getDependantResourceTypes(),
  };
}

/**
 * Whether users and other controllers may change the content of the object: true for ConfigMaps and Secrets.
 */
function isConfiguration({ apiVersion, kind }: KubernetesObject): boolean {
  return [ConfigMap, Secret].some(
    (type) => type.kind === kind && apiVersionOf(type) === apiVersion,
  );
}

function invalid(what: string): OperatorError {
  return new OperatorError('InvalidOption', `lifecycle reconciler: ${what}`);
}
