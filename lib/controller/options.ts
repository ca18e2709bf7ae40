import type { Cache } from '../cache/index.js';
import type { Client, Fence } from '../client/index.js';
import type { KubernetesObject, TypeReference } from '../object/index.js';
import {
  systemClock,
  refuseNonNumbers,
  refuseUnknownOptions,
  silentLogger,
  noMetrics,
  OperatorError,
  systemRandom,
  noTracer,
} from '../system/index.js';
import type {
  Clock,
  OptionNames,
  Logger,
  Metrics,
  Random,
  Resolved,
  Tracer,
} from '../system/index.js';
import { Backoff } from './delays.js';
import type { BackoffOptions } from './delays.js';
import { resolveHotLoopOptions } from './hot-loop.js';
import type { HotLoopOptions } from './hot-loop.js';
import type { KeyOwnership } from './keys.js';
import type { ControllerEventListener } from './outcome.js';
import type { Reconciler } from './reconcile.js';
import type { ControllerCluster } from './running-cluster.js';
import type { Source } from './sources.js';

/** Options of a controller. */
export interface ControllerOptions {
  /** The name in logs and metrics; unique within the process. @defaultValue the kind, in lower case */
  readonly name?: string | undefined;
  /** The reporter of the events of `context.recorder`; a qualified name. @defaultValue `name` */
  readonly reportingController?: string | undefined;
  /** The number of keys reconciled at once; an integer, at least 1. @defaultValue 1 */
  readonly maxConcurrentReconciles?: number | undefined;
  /**
   * The time limit of a reconcile, in milliseconds; above 0. After it, the signal is aborted, the worker is
   * free, and the reconcile counts as failed. @defaultValue Infinity: no limit
   */
  readonly reconcileTimeoutMs?: number | undefined;
  /** The back-off of failing keys. @defaultValue 5 ms, doubling to 1,000 s */
  readonly backoff?: BackoffOptions | undefined;
  /**
   * The limits beyond which a key writes one object too often; `false` disables the check.
   * @defaultValue more than 10 repeating writes or 120 writes in total within a minute
   */
  readonly hotLoop?: HotLoopOptions | false | undefined;
  /**
   * The HTTP requests that a handler may send in a plan, besides those of its client. `reads` refuses all methods but
   * GET, HEAD and OPTIONS (`OutsideWrite`). `all` is for handlers that check `context.planning`, and read through POST
   * requests, as clients of GraphQL and of some clouds do. Calls of databases, other protocols, and undici on Bun are
   * not refused: check `context.planning` before them. @defaultValue 'reads'
   */
  readonly requestsInPlans?: 'reads' | 'all' | undefined;
  /** Receives the events of this controller, after the runtime's listener. @defaultValue none */
  readonly onEvent?: ControllerEventListener | undefined;
}

/** {@link ControllerOptions} with the defaults filled in. */
export type ResolvedControllerOptions = Resolved<ControllerOptions, 'onEvent'>;

export const controllerOptionNames: OptionNames<ControllerOptions> = {
  ...{ name: true, reportingController: true },
  ...{ maxConcurrentReconciles: true, reconcileTimeoutMs: true },
  ...{ backoff: true, hotLoop: true, requestsInPlans: true, onEvent: true },
};

/**
 * Fills in the defaults.
 * @throws OperatorError `InvalidOption`: an option is unknown or out of range.
 */
export function resolveControllerOptions(
  kind: string,
  options: ControllerOptions,
): ResolvedControllerOptions {
  refuseUnknownOptions('controller options', options, controllerOptionNames);
  const { name = kind.toLowerCase(), maxConcurrentReconciles = 1 } = options;
  const { reportingController = name } = options;
  const { reconcileTimeoutMs = Infinity, backoff = {}, hotLoop = {}, onEvent } = options;
  const { requestsInPlans = 'reads' } = options;
  const refuse = (what: string): never => {
    throw new OperatorError('InvalidOption', `controller ${name}: ${what}`);
  };
  if (typeof (name as unknown) !== 'string') refuse(`name: want a string, got ${typeof name}`);
  if (name === '') refuse('name is empty');
  refuseNonNumbers(`controller ${name}`, { maxConcurrentReconciles, reconcileTimeoutMs });
  if (!(Number.isInteger(maxConcurrentReconciles) && maxConcurrentReconciles >= 1)) {
    refuse(`maxConcurrentReconciles ${maxConcurrentReconciles}: want 1, 2, …`);
  }
  if (!(reconcileTimeoutMs > 0)) {
    refuse(`reconcileTimeoutMs ${reconcileTimeoutMs}: want more than 0`);
  }
  if (!['reads', 'all'].includes(requestsInPlans)) {
    refuse(`requestsInPlans ${JSON.stringify(requestsInPlans)}: want 'reads' or 'all'`);
  }
  // Check `backoff` and `hotLoop` now: the controller uses them only at its start, far from the line that sets them.
  new Backoff(backoff);
  if (hotLoop !== false) resolveHotLoopOptions(hotLoop);
  if (!['function', 'undefined'].includes(typeof onEvent)) {
    refuse(
      `onEvent: want a function, got ${(onEvent as unknown) === null ? 'null' : typeof onEvent}`,
    );
  }
  return {
    ...{ name, reportingController, maxConcurrentReconciles, reconcileTimeoutMs },
    ...{ backoff, hotLoop, requestsInPlans, onEvent },
  };
}

/** The runtime settings of a controller, for one cluster or several. */
export interface ControllerSettings {
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** Draws the IDs of reconciles. Sources can use it too. @defaultValue the system's random source */
  readonly random?: Random | undefined;
  /** @defaultValue no logs */
  readonly logger?: Logger | undefined;
  /** @defaultValue no metrics */
  readonly metrics?: Metrics | undefined;
  /** Records a span for each reconcile, and for each of its requests. @defaultValue none */
  readonly tracer?: Tracer | undefined;
  /** Stops the controller when aborted. @defaultValue none */
  readonly signal?: AbortSignal | undefined;
  /** Grace period of reconciles after a stop, in milliseconds. @defaultValue 30_000 */
  readonly gracefulShutdownMs?: number | undefined;
  /** Starts watches, but no reconciles before `activate`. @defaultValue false */
  readonly standby?: boolean | undefined;
  /** Receives the events of the controller. @defaultValue none */
  readonly onEvent?: ControllerEventListener | undefined;
  /** Checked before each write of each reconcile. @defaultValue none: all writes are allowed */
  readonly fence?: Fence | undefined;
  /** Selects the keys that this process reconciles. @defaultValue all */
  readonly ownership?: KeyOwnership | undefined;
}

/** The runtime of a controller on one cluster, which has no name. */
export interface ControllerRuntime extends ControllerSettings {
  /** Usually a `cachedClient` of `cache`. */
  readonly client: Client;
  readonly cache: Cache;
}

/** The runtime of a controller on several clusters; the list may be empty at first. */
export interface MultiClusterRuntime extends ControllerSettings {
  /** The initial clusters, with unique names. Clusters can be added and removed later. */
  readonly clusters: readonly ControllerCluster[];
}

/** {@link ControllerSettings} with the defaults filled in, and the clusters. */
export interface ResolvedRuntime extends Resolved<
  ControllerSettings,
  'signal' | 'onEvent' | 'fence' | 'ownership'
> {
  readonly clusters: readonly ControllerCluster[];
}

/** Fills in the defaults. */
export function resolveRuntime(runtime: ControllerRuntime | MultiClusterRuntime): ResolvedRuntime {
  const { clock = systemClock, random = systemRandom, signal, fence, ownership } = runtime;
  const { logger = silentLogger, metrics = noMetrics, tracer = noTracer } = runtime;
  const { gracefulShutdownMs = 30_000, standby = false, onEvent } = runtime;
  refuseNonNumbers('controller runtime', { gracefulShutdownMs });
  const clusters =
    'clusters' in runtime
      ? runtime.clusters
      : [{ name: '', client: runtime.client, cache: runtime.cache }];
  return {
    ...{ clusters, clock, random, logger, metrics, tracer, signal, fence, ownership },
    ...{ gracefulShutdownMs, standby, onEvent },
  };
}

/** A kind that a controller declares, and its role. */
export interface ControllerKind {
  readonly type: TypeReference<KubernetesObject>;
  /** The reconciled kind, a kind that the controller creates, or a kind that it only watches. */
  readonly role: 'reconciled' | 'owned' | 'watched';
}

export function ownedTypes({
  kinds,
}: Pick<ControllerDefinition, 'kinds'>): readonly TypeReference<KubernetesObject>[] {
  return kinds.filter(({ role }) => role === 'owned').map(({ type }) => type);
}

/** The definition of a controller. */
export interface ControllerDefinition {
  /** The kind whose objects are reconciled. */
  readonly type: TypeReference<KubernetesObject>;
  readonly options: ResolvedControllerOptions;
  readonly sources: readonly Source[];
  /** The reconciled kind, then the owned and watched kinds in the order of their declaration. */
  readonly kinds: readonly ControllerKind[];
  readonly reconciler: Reconciler;
}
