import type { CacheEvent } from '../cache/informer.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import { OperatorError } from '../system/operator-error.js';
import { mapsToItself } from './handlers.js';
import type { Mapped, Mapper } from './handlers.js';
import { enqueueMapped } from './mapped-keys.js';
import type { MappedContext } from './mapped-keys.js';
import { answerOf } from './predicates.js';
import type { Predicate } from './predicates.js';
import { workKeyOf } from './reconcile-key.js';
import type { ReconcileKey } from './reconcile-key.js';
import type { Source, SourceContext } from './source.js';
import { eventTrigger } from './trigger.js';
import type { Trigger } from './trigger.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import type { OptionNames } from '../system/known-options.js';

/** Options of {@link kindSource}. */
export interface KindSourceOptions<T extends KubernetesObject> {
  /** Returns the keys to reconcile. */
  readonly mapper: Mapper<T>;
  /** Selects the events that cause a reconcile. @defaultValue all */
  readonly predicate?: Predicate<T> | undefined;
  /** Watches only `metadata`, which saves traffic and memory. @defaultValue false */
  readonly metadataOnly?: boolean | undefined;
  /** Caches `managedFields`, for a reconciler that applies objects of the kind. @defaultValue false */
  readonly keepManagedFields?: boolean | undefined;
}

/** The priority of objects from before the start: new events go first. */
export const initialListPriority = -100;

const optionNames: OptionNames<KindSourceOptions<KubernetesObject>> = {
  ...{ mapper: true, predicate: true, metadataOnly: true, keepManagedFields: true },
};

/** Creates a source from the changes of the objects of a kind. */
export function kindSource<T extends KubernetesObject>(
  type: TypeReference<T>,
  options: KindSourceOptions<T>,
): Source {
  refuseUnknownOptions<KindSourceOptions<T>>(`kindSource ${type.kind}`, options, optionNames);
  return {
    name: type.kind,
    start: (context) => {
      const { metadataOnly, keepManagedFields } = options;
      const informer = context.cache.informer(type, { metadataOnly, keepManagedFields });
      const ending = new AbortController();
      const { signal } = ending;
      const visit = (event: CacheEvent<T>, trigger: Trigger): void => {
        if (!matters(event, options.predicate, context)) return;
        tell({ event, trigger, signal }, options, context);
      };
      informer.addHandler((event) => visit(event, eventTrigger(event, context.cluster)));
      return {
        // An unserved kind counts as synced.
        whenSynced: (signal) => informer.waitForSync(signal, { parked: 'pass' }),
        replay: (trigger) => {
          for (const object of informer.list()) {
            visit({ type: 'added', object, isInInitialList: true }, trigger);
          }
        },
        status: () => informer.status(),
        stop: () => {
          ending.abort(new OperatorError('Stopped', `source ${type.kind}: stopped`));
          informer.release();
        },
      };
    },
  };
}

function matters<T extends KubernetesObject>(
  event: CacheEvent<T>,
  predicate: Predicate<T> | undefined,
  context: SourceContext,
): boolean {
  try {
    return (predicate && answerOf(predicate, event)) ?? true;
  } catch (error) {
    context.failed('predicate', error, event.object);
    // An extra reconcile is harmless; a missing one is not.
    return true;
  }
}

interface Visit<T extends KubernetesObject> {
  readonly event: CacheEvent<T>;
  readonly trigger: Trigger;
  readonly signal: AbortSignal;
}

function tell<T extends KubernetesObject>(
  { event, trigger, signal }: Visit<T>,
  { mapper }: KindSourceOptions<T>,
  context: SourceContext,
): void {
  const { client, logger, cluster, clock } = context;
  const cause = { request: { trigger, priority: priorityOf(event) }, object: event.object };
  const told = { event, cluster, client, logger, clock, signal };
  const isTwo = event.type === 'updated' && !mapsToItself(mapper);
  const target = isTwo ? eachOnce(context) : context;
  void enqueueMapped((): Mapped => mapper(event.object, told), target, cause);
  if (!isTwo) return;
  void enqueueMapped((): Mapped => mapper(event.old, told), target, cause);
}

/** Wraps `context` for one event and drops duplicate keys: both states mostly map to the same ones. */
function eachOnce(context: SourceContext): MappedContext {
  const { cluster } = context;
  let first: ReconcileKey | undefined;
  let seen: Set<string> | undefined;
  return {
    failed: (what, error, object) => context.failed(what, error, object),
    enqueue: (key, request) => {
      // There is nearly always one key, so avoid building its text.
      if (first !== undefined && isSame(first, key)) return true;
      if (first === undefined) {
        const isTaken = context.enqueue(key, request);
        first = key;
        return isTaken;
      }
      seen ??= new Set([workKeyOf(first, cluster).text]);
      const { text } = workKeyOf(key, cluster);
      if (seen.has(text)) return true;
      seen.add(text);
      return context.enqueue(key, request);
    },
  };
}

function isSame(one: ReconcileKey, other: ReconcileKey | null | undefined): boolean {
  const { namespace, name, cluster } = other ?? {};
  return one.name === name && one.namespace === namespace && one.cluster === cluster;
}

function priorityOf(event: CacheEvent): number {
  return event.type === 'added' && event.isInInitialList ? initialListPriority : 0;
}
