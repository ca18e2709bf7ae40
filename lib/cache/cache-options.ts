import type { Client } from '../client/client.js';
import { parseFieldSelector } from '../object/field-selector.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { parseLabelSelector } from '../object/label-selector.js';
import type { TypeReference } from '../object/resource-type.js';
import { systemClock } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import { silentLogger } from '../system/logger.js';
import type { Logger } from '../system/logger.js';
import { noMetrics } from '../system/metrics.js';
import type { Metrics } from '../system/metrics.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import { OperatorError } from '../system/operator-error.js';
import { systemRandom } from '../system/random.js';
import type { Random } from '../system/random.js';
import type { Resolved } from '../system/resolved.js';
import type { Indexer } from './indexer.js';
import type { Transform } from './intake.js';
import type { QuarantinedObject } from './quarantine.js';
import type { OptionNames } from '../system/known-options.js';

/** What is cached of one kind. See {@link cachedType}. */
export interface CachedType<T extends KubernetesObject = KubernetesObject> {
  readonly type: TypeReference<T>;
  /** Only these namespaces, each with a watch of its own; at least one. @defaultValue all */
  readonly namespaces?: readonly string[] | undefined;
  /** Only objects that match, for example `app=web`. @defaultValue all */
  readonly labelSelector?: string | undefined;
  /** Only objects that match, for example `type=kubernetes.io/tls`. @defaultValue all */
  readonly fieldSelector?: string | undefined;
  /** Drops what nobody needs, before it is stored. It must not change its argument. */
  readonly transform?: Transform<T> | undefined;
  /** Indexes beside those by namespace and controller UID, by name. */
  readonly indexers?: Readonly<Record<string, Indexer<T>>> | undefined;
  /**
   * Keep `metadata.managedFields`: whoever applies objects reads there whether to.
   * @defaultValue false, true as soon as an informer asks for it
   */
  readonly keepManagedFields?: boolean | undefined;
}

/** Options of `Cache`. */
export interface CacheOptions {
  readonly client: Client;
  /** @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /** @defaultValue the machine's */
  readonly random?: Random | undefined;
  /** @defaultValue drops everything */
  readonly logger?: Logger | undefined;
  /** @defaultValue drops everything */
  readonly metrics?: Metrics | undefined;
  /** What is cached of kinds of which it is not everything. @defaultValue none */
  readonly types?: readonly CachedType[] | undefined;
  /**
   * The namespaces of namespaced kinds that `types` says nothing about. Cluster-scoped kinds are
   * cached as a whole. @defaultValue all
   */
  readonly namespaces?: readonly string[] | undefined;
  /** Kinds that `namespaces` says nothing about either: all of them are cached. @defaultValue none */
  readonly allNamespacesOf?: ((type: TypeReference<KubernetesObject>) => boolean) | undefined;
  /** Freeze objects deeply, so that a write into the cache throws at once. @defaultValue true */
  readonly freeze?: boolean | undefined;
  /**
   * Called once for each version of an object that the cache can't take in: it nests too deeply, has
   * no name, or the kind's transform or an index throws for it. @defaultValue none
   */
  readonly onQuarantined?: ((object: QuarantinedObject) => void) | undefined;
  /** Use streaming lists (KEP-3157) where the server has them. @defaultValue true */
  readonly streamingLists?: boolean | undefined;
}

/** {@link CacheOptions}, resolved. */
export type ResolvedCacheOptions = Resolved<Omit<CacheOptions, 'namespaces'>> & {
  readonly namespaces: readonly string[] | undefined;
};

/**
 * What is cached of one kind, for the `types` of {@link CacheOptions}: keeps the object's type, which
 * a list of several kinds can't say.
 */
export function cachedType<T extends KubernetesObject>(options: CachedType<T>): CachedType {
  // Only ever given objects of its own type.
  return options as unknown as CachedType;
}

const cachedTypeNames: OptionNames<CachedType> = {
  ...{ type: true, namespaces: true, labelSelector: true, fieldSelector: true },
  ...{ transform: true, indexers: true, keepManagedFields: true },
};

/**
 * Fills in the defaults.
 * @throws OperatorError `InvalidOption`: an empty list of namespaces.
 * @throws OperatorError `InvalidSelector`: a selector that can't be read.
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
  refuseUnknownOptions<CacheOptions>('cache', options, resolved);
  return resolved;
}

function checkScope(what: string, scope: Omit<CachedType, 'type'>): void {
  if (scope.namespaces?.length === 0) {
    throw new OperatorError('InvalidOption', `${what}: namespaces is empty: leave it out for all`);
  }
  if (scope.labelSelector !== undefined) parseLabelSelector(scope.labelSelector);
  if (scope.fieldSelector !== undefined) parseFieldSelector(scope.fieldSelector);
}
