import type { Client } from '../client/index.js';
import { labelRequirementsOf, parseFieldSelector } from '../object/index.js';
import type { KubernetesObject, LabelSelector, TypeReference } from '../object/index.js';
import {
  systemClock,
  silentLogger,
  noMetrics,
  refuseUnknownOptions,
  OperatorError,
  systemRandom,
  refuseNonList,
} from '../system/index.js';
import type { Clock, Logger, Metrics, Random, Resolved, OptionNames } from '../system/index.js';
import type { Indexer } from './indexer.js';
import type { Transform } from './intake.js';
import type { QuarantinedObject } from './quarantine.js';

/** Selects the objects of one kind that a cache holds, and the parts of them. See {@link cachedType}. */
export interface CachedType<T extends KubernetesObject = KubernetesObject> {
  readonly type: TypeReference<T>;
  /** Caches only these namespaces, each with its own watch; must not be empty. @defaultValue all */
  readonly namespaces?: readonly string[] | undefined;
  /**
   * Caches only objects that match, for example `app=web`, or a selector object:
   * `{ matchLabels: { app: 'web' } }`. @defaultValue all
   */
  readonly labelSelector?: string | LabelSelector | undefined;
  /** Caches only objects that match, for example `type=kubernetes.io/tls`. @defaultValue all */
  readonly fieldSelector?: string | undefined;
  /**
   * Drops unneeded fields before an object is stored. The function must not change its argument. A cached client reads
   * the object from the server before an `update`, and refuses an update that would remove dropped fields.
   */
  readonly transform?: Transform<T> | undefined;
  /** Indexes by name, in addition to those by namespace and controller UID. */
  readonly indexers?: Readonly<Record<string, Indexer<T>>> | undefined;
  /**
   * Keeps `metadata.managedFields`, from which server-side apply callers decide whether to write.
   * @defaultValue false; true as soon as an informer requests it
   */
  readonly keepManagedFields?: boolean | undefined;
}

/** Options of `Cache`. */
export interface CacheOptions {
  readonly client: Client;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** Spreads retries, and the time limits of watches. @defaultValue the system's random source */
  readonly random?: Random | undefined;
  /** @defaultValue no logs */
  readonly logger?: Logger | undefined;
  /** Registers the metrics of the informers. @defaultValue no metrics */
  readonly metrics?: Metrics | undefined;
  /** Settings of kinds that are cached only in part. @defaultValue none */
  readonly types?: readonly CachedType[] | undefined;
  /**
   * The namespaces to cache for namespaced kinds, except kinds with their own `namespaces` in `types`. Cluster-scoped
   * kinds are cached in full.
   * @defaultValue all
   */
  readonly namespaces?: readonly string[] | undefined;
  /**
   * Returns true for kinds, not listed in `types`, that are cached in all namespaces despite `namespaces`.
   * @defaultValue no kinds
   */
  readonly allNamespacesOf?: ((type: TypeReference<KubernetesObject>) => boolean) | undefined;
  /** Freezes objects deeply, so that a write to a cached object throws at once. @defaultValue true */
  readonly freeze?: boolean | undefined;
  /**
   * Called once for each version of an object that the cache can't store. The object nests too deeply or has
   * no name, or the kind's transform or an index throws for it. @defaultValue none
   */
  readonly onQuarantined?: ((object: QuarantinedObject) => void) | undefined;
  /** Uses streaming lists (KEP-3157) if the server supports them. @defaultValue true */
  readonly streamingLists?: boolean | undefined;
}

/** {@link CacheOptions} with the defaults filled in. */
export type ResolvedCacheOptions = Resolved<CacheOptions, 'namespaces'>;

/**
 * Builds an entry for the option `types` of a `Cache`. The compiler checks `transform` and `indexers` against the
 * object's type, which an array of several kinds can't do.
 */
export function cachedType<T extends KubernetesObject>(options: CachedType<T>): CachedType {
  // Safe: the cache calls `transform` and `indexers` only with objects of this type.
  return options as unknown as CachedType;
}

const cachedTypeNames: OptionNames<CachedType> = {
  ...{ type: true, namespaces: true, labelSelector: true, fieldSelector: true },
  ...{ transform: true, indexers: true, keepManagedFields: true },
};

/**
 * Fills in the defaults.
 * @throws OperatorError `InvalidOption`: a list of namespaces is empty.
 * @throws OperatorError `InvalidSelector`: a selector is invalid.
 */
export function resolveCacheOptions(options: CacheOptions): ResolvedCacheOptions {
  const { client, clock = systemClock, random = systemRandom, logger = silentLogger } = options;
  const { metrics = noMetrics, types = [], namespaces } = options;
  const { freeze = true, streamingLists = true, allNamespacesOf = () => false } = options;
  const { onQuarantined = () => undefined } = options;
  for (const each of types) {
    refuseUnknownOptions<CachedType>(`cache: ${each.type.kind}`, each, cachedTypeNames);
  }
  for (const { type, ...scope } of [{ type: { kind: 'cache' }, namespaces }, ...types]) {
    checkScope(type.kind, scope);
  }
  const resolved = {
    ...{ client, clock, random, logger, metrics, types, freeze, streamingLists },
    ...{ namespaces, allNamespacesOf, onQuarantined },
  };
  refuseUnknownOptions<CacheOptions>('cache', options, resolved, ofOneType);
  return resolved;
}

const toOneType = 'give it to a kind: types: [cachedType({ type, … })]';
const ofOneType = {
  ...{ labelSelector: toOneType, fieldSelector: toOneType, transform: toOneType },
  ...{ indexers: toOneType, keepManagedFields: toOneType },
};

function checkScope(what: string, scope: Omit<CachedType, 'type'>): void {
  const { namespaces } = scope;
  refuseNonList(`${what}: namespaces`, namespaces);
  // An environment variable that is unset, split at commas, gives one empty name.
  if (namespaces?.length === 0 || namespaces?.includes('') === true) {
    const problem = namespaces.length === 0 ? 'is empty' : 'has an empty name';
    throw new OperatorError(
      'InvalidOption',
      `${what}: namespaces ${problem}: leave it out for all`,
    );
  }
  if (scope.labelSelector !== undefined) labelRequirementsOf(scope.labelSelector);
  if (scope.fieldSelector !== undefined) parseFieldSelector(scope.fieldSelector);
}
