import type { InformerStatus } from '../../cache/index.js';
import { describeMissing, estimateTotalBytes } from '../../cache/index.js';
import type {
  ControllerEvent,
  ControllerEventListener,
  ReconciledEvent,
  Trigger,
  TriggerList,
} from '../../controller/index.js';
import { parseKey, apiVersionOf } from '../../object/index.js';
import type { Clock } from '../../system/index.js';
import type { ManagedCluster } from '../managed-cluster.js';
import type {
  ManagerEntries,
  ManagerEntry,
  ManagedControllerStatus,
  ManagerStatus,
} from '../manager-entries.js';
import type { Runnable } from '../runnable.js';
import type { WebhookServer } from '../webhooks/webhook-server.js';
import { firstMapped, firstOf, shownDuration, shownError, shownTime } from './html.js';
import type {
  Overview,
  ShownActive,
  ShownCache,
  ShownCause,
  ShownController,
  ShownKey,
  ShownRecent,
  ShownSource,
  ShownWebhook,
} from './overview.js';

/** Sources of an {@link Overview}. */
export interface OverviewSources {
  readonly status: () => ManagerStatus;
  readonly clusters: ReadonlyMap<string, ManagedCluster>;
  readonly entries: ManagerEntries;
  readonly recent: () => readonly RecentReconcile[];
  /** True if replicas compete for a Lease. */
  readonly isElected: boolean;
  readonly clock: Clock;
}

/** Collects the state of a manager for display. */
export function overviewOf(sources: OverviewSources): Overview {
  const status = sources.status();
  const keys = new ShownKeys(sources.entries, status);
  const { controllers, runnables, clusters, shards } = status;
  const { phase, isLeading, leader } = status;
  const caches = clusters.flatMap(({ name, caches: kinds }) =>
    kinds.map((kind) => ({ name, kind })),
  );
  return {
    at: shownTime(sources.clock.now()),
    ...{ phase, isElected: sources.isElected, isLeading, leader },
    clusters: firstOf(clusters.map(({ name }) => name)),
    controllers: firstMapped(controllers, (each) => controllerOf(each, keys)),
    ...reconcilesOf(controllers, keys),
    ...failuresOf(controllers, keys),
    recent: firstMapped(sources.recent(), (each) => recentOf(each, keys)),
    caches: firstMapped(caches, ({ name, kind }) => cacheOf(sources.clusters.get(name), kind)),
    quarantined: firstMapped(
      caches.flatMap(({ name, kind }) => kind.quarantined.map((object) => ({ name, object }))),
      ({ name, object }) => ({ cluster: name, ...object }),
    ),
    troubledSources: firstOf(controllers.flatMap(troubledSourcesOf)),
    webhooks: firstOf([...sources.entries].flatMap(webhooksOf)),
    runnables: firstOf(runnables),
    shards:
      shards === undefined
        ? undefined
        : {
            ...{ phase: shards.phase, member: shards.member, leader: shards.leader },
            ...{ members: firstOf(shards.members), epoch: shards.epoch, share: shards.share },
          },
  };
}

/** Resolves keys of controllers to objects. */
class ShownKeys {
  readonly #types = new Map<string, { readonly apiVersion: string; readonly kind: string }>();

  constructor(entries: ManagerEntries, { controllers }: ManagerStatus) {
    for (const { name, kind } of controllers) this.#types.set(name, { apiVersion: '', kind });
    for (const entry of entries) {
      if (entry.type !== 'controller') continue;
      const { name, type } = entry.controller;
      this.#types.set(name, { apiVersion: apiVersionOf(type), kind: type.kind });
    }
  }

  typeOf(controller: string): { readonly apiVersion: string; readonly kind: string } {
    return this.#types.get(controller) ?? { apiVersion: '', kind: '' };
  }

  of(controller: string, { cluster, key }: Pick<ShownKey, 'cluster' | 'key'>): ShownKey {
    const object = { cluster, ...this.typeOf(controller), ...parseKey(key) };
    return { controller, cluster, key, object };
  }
}

function controllerOf(status: ManagedControllerStatus, keys: ShownKeys): ShownController {
  const { name, phase, isActive, depth, delayed } = status;
  return {
    ...{ name, ...keys.typeOf(name), phase, isActive, waiting: depth, delayed },
    active: status.active.length,
    held: status.held.length,
    hotLoops: status.hotLoops.length,
    failing: status.lastErrors.length,
    troubledSources: troubledSourcesOf(status).length,
  };
}

function reconcilesOf(
  controllers: readonly ManagedControllerStatus[],
  keys: ShownKeys,
): Pick<Overview, 'active' | 'held' | 'queued'> {
  const active = controllers.flatMap(({ name, active: runs }) =>
    runs.map((run) => ({ name, run })),
  );
  const shown = ({ name, run }: (typeof active)[number]): ShownActive => {
    const { reconcileID, lastedMs, heldMs, triggers } = run;
    const causes = shownCauses({ triggers, more: 0 });
    return { ...keys.of(name, run), reconcileID, lastedMs, heldMs, causes };
  };
  const waiting = controllers.flatMap(({ name, longestWaiting, nextDelayed }) => [
    ...longestWaiting.map((key) => ({ name, key, waits: 'worker' as const, ms: key.waitedMs })),
    ...nextDelayed.map((key) => ({ name, key, waits: 'time' as const, ms: key.inMs })),
  ]);
  const queued = firstMapped(waiting, ({ name, key, waits, ms }) => ({
    ...keys.of(name, key),
    ...{ priority: key.priority, waits, ms },
  }));
  const total = controllers.reduce((sum, { depth, delayed }) => sum + depth + delayed, 0);
  return {
    active: firstMapped(active, shown),
    held: firstMapped(
      active.filter(({ run }) => run.isTimedOut),
      shown,
    ),
    queued: { items: queued.items, more: Math.max(0, total - queued.items.length) },
  };
}

function failuresOf(
  controllers: readonly ManagedControllerStatus[],
  keys: ShownKeys,
): Pick<Overview, 'failures' | 'hotLoops'> {
  const failures = controllers.flatMap(({ name, lastErrors }) =>
    lastErrors.map((error) => ({ name, error })),
  );
  const latestFirst = failures.sort((one, other) => other.error.atMs - one.error.atMs);
  const loops = controllers.flatMap(({ name, hotLoops }) =>
    hotLoops.map((loop) => ({ name, loop })),
  );
  return {
    failures: firstMapped(latestFirst, ({ name, error }) => {
      const { outcome, message, failures: count, atMs } = error;
      return { ...keys.of(name, error), outcome, message, failures: count, at: shownTime(atMs) };
    }),
    hotLoops: firstMapped(loops, ({ name, loop }) => ({
      ...keys.of(name, loop),
      written: { ...loop.object, cluster: loop.cluster },
      ...{ writesPerMinute: loop.writesPerMinute, delayMs: loop.delayMs },
      paths: firstOf(loop.paths, maxParts),
      managers: firstOf(loop.managers, maxParts),
    })),
  };
}

/** Maximum number of paths, and of field managers, per hot loop. */
const maxParts = 10;

function recentOf({ event, atMs }: RecentReconcile, keys: ShownKeys): ShownRecent {
  const { controller, reconcileID, outcome, durationMs, againInMs, causes, error } = event;
  return {
    ...keys.of(controller, event),
    ...{ reconcileID, at: shownTime(atMs), outcome, durationMs, againInMs },
    causes: shownCauses(causes),
    error: error === undefined ? undefined : shownError(error),
  };
}

function troubledSourcesOf({ name, clusters }: ManagedControllerStatus): ShownSource[] {
  return clusters.flatMap(({ cluster, sources }) =>
    sources.flatMap(({ source, synced, parked, problem }) => {
      if (synced && !parked && problem === undefined) return [];
      const shown = problem === undefined ? undefined : shownError(problem);
      return [{ controller: name, cluster, source, synced, parked, problem: shown }];
    }),
  );
}

function cacheOf(cluster: ManagedCluster | undefined, status: InformerStatus): ShownCache {
  const { apiVersion, kind, metadataOnly, objects, synced, parked, problem, missing } = status;
  const store = cluster?.cache.peek({ apiVersion, kind }, metadataOnly)?.store;
  return {
    cluster: cluster?.name ?? '',
    ...{ apiVersion, kind, metadataOnly, objects, synced, parked, missing },
    bytes: store === undefined ? 0 : estimateTotalBytes(store.values(), store.size),
    problem: problem === undefined ? undefined : shownError(problem),
    remedy: missing === undefined ? undefined : describeMissing(missing),
  };
}

function webhooksOf(entry: ManagerEntry): ShownWebhook[] {
  if (entry.type !== 'runnable' || !isWebhookServer(entry.runnable)) return [];
  const { webhooks, port } = entry.runnable;
  return webhooks.map(({ type, name, path }) => ({ type, name, path, port }));
}

// Does not use `instanceof`: the class may exist twice, in two copies of the package or because of a module loader.
function isWebhookServer(runnable: Runnable): runnable is WebhookServer {
  return runnable.phase === 'webhook' && 'webhooks' in runnable && 'port' in runnable;
}

/** A finished reconcile and its time in milliseconds since 1970. */
interface RecentReconcile {
  readonly event: ReconciledEvent;
  readonly atMs: number;
}

/** The options of a manager that {@link RecentReconciles} needs. */
interface ObservableOptions {
  readonly inspector: unknown;
  readonly onEvent: ControllerEventListener | undefined;
}

/** Number of reconciles to keep; small, since their causes keep objects in memory. */
const kept = 50;

/** The last reconciles of all controllers. */
export class RecentReconciles {
  readonly #clock: Clock;
  readonly #recent: RecentReconcile[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns `options` with a listener that records each reconcile; unchanged without an inspector. */
  noting<T extends ObservableOptions>(options: T): T {
    const { inspector, onEvent } = options;
    if (inspector === undefined) return options;
    const note = (event: ControllerEvent): void => {
      if (event.type === 'reconciled') this.#note(event);
      onEvent?.(event);
    };
    return { ...options, onEvent: note };
  }

  /** Returns the recorded reconciles, the latest first. */
  all(): RecentReconcile[] {
    return this.#recent.toReversed();
  }

  #note(event: ReconciledEvent): void {
    this.#recent.push({ event, atMs: this.#clock.now() });
    if (this.#recent.length > kept) this.#recent.shift();
  }
}

const maxCauses = 5;
const maxPaths = 5;

function shownCauses({ triggers, more }: TriggerList): readonly ShownCause[] {
  const { items, more: cut } = firstOf(triggers, maxCauses);
  const causes = items.map(shownCause);
  const left = cut + more;
  return left === 0 ? causes : [...causes, { type: 'more', text: `and ${left} more` }];
}

function shownCause(trigger: Trigger): ShownCause {
  switch (trigger.type) {
    case 'event': {
      const { cluster, object, event } = trigger;
      const text = `${event}${detailsOf(trigger)}`;
      return { type: 'event', text, object: { ...object, cluster } };
    }
    case 'source':
      return { type: 'source', text: `source ${trigger.source}` };
    case 'acquired':
      return { type: 'acquired', text: 'the key came from another replica' };
    case 'requeue':
      return { type: 'requeue', text: `requested after ${shownDuration(trigger.afterMs)}` };
    case 'retry':
      return { type: 'retry', text: `retry after failure ${trigger.failures} in a row` };
  }
}

function detailsOf(trigger: Trigger & { type: 'event' }): string {
  if (trigger.isInInitialList) return ' (existed at the start)';
  const { items, more } = firstOf(trigger.changedFields, maxPaths);
  if (items.length === 0) return '';
  return `: ${items.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}
