import { commonPauseAnnotations } from '../../status/index.js';
import { dns1123SubdomainProblem, qualifiedNameProblem } from '../../object/names.js';
import { ConfigMap, Secret } from '../../object/kinds.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { systemClock } from '../../system/clock.js';
import { silentLogger } from '../../system/logger.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import type { OptionNames } from '../../system/known-options.js';
import { OperatorError } from '../../system/operator-error.js';
import { CallbackDispatcher } from '../callbacks/callback-dispatcher.js';
import type { CrManager } from '../cr-manager.js';
import type { LifecycleObject, LifecycleStatus } from '../lifecycle-status.js';
import type { LifecycleReconcilerOptions } from './lifecycle-reconciler-options.js';
import { Deletions } from './owned-objects.js';
import { OwedCallbacks } from './user-code.js';
import { PutBacks } from './merged-object.js';

type Optional = 'perishablesSynchronizer' | 'controllerConfigUpdater' | 'sanityChecker';
type StayOptional = Optional | 'watchRegistrator' | 'preCreateHook' | 'namespacedCr';

/** {@link LifecycleReconcilerOptions} with defaults applied. */
export type Settings<CR extends LifecycleObject> = {
  readonly [K in Exclude<keyof LifecycleReconcilerOptions<CR>, StayOptional>]-?: Exclude<
    LifecycleReconcilerOptions<CR>[K],
    undefined
  >;
} & Pick<LifecycleReconcilerOptions<CR>, StayOptional> & {
    readonly crManager: Required<CrManager<CR>>;
    /** The writes that the server reverted. */
    readonly putBacks: PutBacks;
    /** The objects that are being deleted. */
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
  options: LifecycleReconcilerOptions<CR>,
): Settings<CR> {
  refuseMissing(options);
  const { createVersionLabel = 'operator-builder.io/create-version' } = options;
  const { updateVersionLabel = 'operator-builder.io/update-version' } = options;
  const { lastAppliedAnnotation = 'operator-builder.io/last-applied' } = options;
  const { finalizer = 'operator-builder.io/lifecycle' } = options;
  const { dispatcher = new CallbackDispatcher<CR>(), perishablesSyncIntervalMs = 300_000 } =
    options;
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
    throw invalid('crManager has status, and no withStatus: the status could not be written');
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
    ...{ putBacks: new PutBacks(clock), deletions: new Deletions() },
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
function refuseMissing<CR extends LifecycleObject>(
  options: Partial<LifecycleReconcilerOptions<CR>>,
): void {
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

function resolveCrManager<CR extends LifecycleObject>(
  manager: CrManager<CR>,
): Required<CrManager<CR>> {
  const status = (cr: CR): LifecycleStatus =>
    manager.status === undefined ? (cr.status ?? {}) : (manager.status(cr) ?? {});
  const isNew = (cr: CR): boolean => {
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

/** Whether others may change the content of the object: ConfigMaps and Secrets. */
function isConfiguration({ apiVersion, kind }: KubernetesObject): boolean {
  return [ConfigMap, Secret].some(
    (type) => type.kind === kind && apiVersionOf(type) === apiVersion,
  );
}

function invalid(what: string): OperatorError {
  return new OperatorError('InvalidOption', `lifecycle reconciler: ${what}`);
}
