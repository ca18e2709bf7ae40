import type { CacheEvent } from '../cache/informer.js';
import type { Client } from '../client/client.js';
import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import { keyOf } from '../object/object-key.js';
import { apiVersionOf, groupOf } from '../object/resource-type.js';
import type { ResourceType, TypeReference } from '../object/resource-type.js';
import { sleep } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import type { OptionNames } from '../system/known-options.js';
import type { Logger } from '../system/logger.js';
import { isOperatorError, OperatorError } from '../system/operator-error.js';
import { workKeyOf } from './keys.js';
import type { ReconcileKey } from './keys.js';
import { answerOf } from './predicates.js';
import type { Predicate } from './predicates.js';
import { enqueueMapped } from './sources.js';
import type { MappedContext, Source, SourceContext } from './sources.js';
import { eventTrigger } from './trigger.js';
import type { Trigger } from './trigger.js';

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

/** The context of a {@link Mapper}. */
export interface MapContext<T extends KubernetesObject = KubernetesObject> {
  readonly event: CacheEvent<T>;
  /** The cluster of the event; `''` for the only one. */
  readonly cluster: string;
  /** Reads cached objects from the cache. */
  readonly client: Client;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Aborted when the source is stopped. */
  readonly signal: AbortSignal;
}

/** The keys to reconcile. A key without a cluster belongs to the cluster of the event. */
export type Mapped = readonly ReconcileKey[] | Promise<readonly ReconcileKey[]>;

/**
 * Returns the keys to reconcile after a change of `object`. It is called for the new and the old state, so
 * that a previous owner is reconciled too. An exception is logged and counted.
 */
export type Mapper<T extends KubernetesObject = KubernetesObject> = (
  object: T,
  context: MapContext<T>,
) => Mapped;

/** Options of {@link enqueueOwner}. */
export interface EnqueueOwnerOptions {
  /** Matches every owner of the type, not only the controller. @defaultValue false */
  readonly matchEveryOwner?: boolean | undefined;
}

/** Returns the key of `object`, for the mapper of a watch. */
export function requestFor(object: KubernetesObject): ObjectKey {
  return keyOf(object);
}

/** Returns a mapper that reconciles the object itself. */
export function enqueueObject(): Mapper {
  return toItself;
}

const toItself: Mapper = (object) => [keyOf(object)];

/** Returns true if `mapper` is {@link enqueueObject}: both states of an object have the same key. */
export function mapsToItself(mapper: unknown): boolean {
  return mapper === toItself;
}

/**
 * Returns a mapper that reconciles the object's controller if it is of `owner`'s kind, in any version of its
 * group. For a kind given as `{ apiVersion, kind }`, the first event that needs the scope resolves it by
 * discovery.
 */
export function enqueueOwner(
  owner: TypeReference<KubernetesObject>,
  options: EnqueueOwnerOptions = {},
): Mapper {
  const { matchEveryOwner = false } = options;
  refuseUnknownOptions<EnqueueOwnerOptions>('enqueueOwner', options, { matchEveryOwner });
  const group = groupOf(apiVersionOf(owner));
  const scopes = new OwnerScopes(owner);
  return ({ metadata: { ownerReferences = [], namespace } }, context) => {
    const names = ownerReferences
      .filter(
        (reference) =>
          (matchEveryOwner || reference.controller === true) &&
          reference.kind === owner.kind &&
          groupOf(reference.apiVersion) === group,
      )
      .map(({ name }) => name);
    if (names.length === 0) return [];
    const keysIn = (type: ResourceType<KubernetesObject> | undefined): readonly ReconcileKey[] => {
      // An owner of an unserved kind cannot exist; once served, its own watch lists it.
      if (type === undefined) return [];
      const isNamespaced = type.namespaced && namespace !== undefined;
      return names.map((name) => (isNamespaced ? { namespace, name } : { name }));
    };
    const type = scopes.known(context);
    return type === undefined ? scopes.resolve(context).then(keysIn) : keysIn(type);
  };
}

const scopeRetryMs = 1_000;

/** Resolves an owner's kind once per client, since clusters may serve it with different scopes. */
class OwnerScopes {
  readonly #owner: TypeReference<KubernetesObject>;
  readonly #known = new WeakMap<Client, ResourceType<KubernetesObject>>();
  readonly #pending = new WeakMap<Client, Promise<ResourceType<KubernetesObject> | undefined>>();

  constructor(owner: TypeReference<KubernetesObject>) {
    this.#owner = owner;
  }

  /** Returns the kind if no request is needed, which keeps events in order. */
  known({ client }: MapContext): ResourceType<KubernetesObject> | undefined {
    return 'plural' in this.#owner ? this.#owner : this.#known.get(client);
  }

  /**
   * Retries discovery until it answers: a lost event would leave the owner stale until its next resync.
   * @returns undefined if the kind is not served
   */
  resolve(context: MapContext): Promise<ResourceType<KubernetesObject> | undefined> {
    const { client } = context;
    const pending = this.#pending.get(client) ?? this.#ask(context);
    this.#pending.set(client, pending);
    return pending.finally(() => this.#pending.delete(client));
  }

  async #ask(context: MapContext): Promise<ResourceType<KubernetesObject> | undefined> {
    const { client, logger, clock, signal } = context;
    for (;;) {
      try {
        const type = await client.resourceType(this.#owner);
        this.#known.set(client, type);
        return type;
      } catch (error) {
        if (isOperatorError(error, 'UnknownKind') || signal.aborted) return undefined;
        logger.warn('owner kind not resolved', { kind: this.#owner.kind, error });
      }
      await sleep(clock, scopeRetryMs, signal).catch(() => undefined);
    }
  }
}
