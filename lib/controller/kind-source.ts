import type { AddedEvent, CacheEvent, DeletedEvent, UpdatedEvent } from '../cache/index.js';
import type { Client } from '../client/index.js';
import type {
  KubernetesObject,
  LabelSelector,
  ResourceType,
  TypeReference,
} from '../object/index.js';
import {
  labelRequirementsOf,
  matchesLabels,
  keyOf,
  apiVersionOf,
  groupOf,
} from '../object/index.js';
import { waited, refuseUnknownOptions, OperatorError, isOperatorError } from '../system/index.js';
import type { Clock, OptionNames, Logger } from '../system/index.js';
import { workKeyOf } from './keys.js';
import type { ReconcileKey } from './keys.js';
import { enqueueMapped, isThenable } from './sources.js';
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

/** Priority of objects that existed before the start. It is low, so that new events are reconciled first. */
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
        enqueueOwners({ event, trigger, signal }, options, context);
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

function enqueueOwners<T extends KubernetesObject>(
  { event, trigger, signal }: Visit<T>,
  { mapper }: KindSourceOptions<T>,
  context: SourceContext,
): void {
  const { client, logger, cluster, clock } = context;
  const cause = { request: { trigger, priority: priorityOf(event) }, object: event.object };
  const mapContext = { event, cluster, client, logger, clock, signal };
  const isTwo = event.type === 'updated' && !mapsToItself(mapper);
  const target = isTwo ? eachOnce(context) : context;
  void enqueueMapped((): Mapped => mapper(event.object, mapContext), target, cause);
  if (!isTwo) return;
  void enqueueMapped((): Mapped => mapper(event.old, mapContext), target, cause);
}

/**
 * Wraps `context` for one event and drops duplicate keys: the old and the new state of an object mostly map
 * to the same keys.
 */
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

/** Options of `enqueueOwner`. */
export interface EnqueueOwnerOptions {
  /** Matches every owner of the type, not only the controller. @defaultValue false */
  readonly matchEveryOwner?: boolean | undefined;
}

/** Returns a mapper that reconciles the object itself. */
export function enqueueObject(): Mapper {
  return toItself;
}

const toItself: Mapper = (object) => [keyOf(object)];

/** Returns true if `mapper` is {@link enqueueObject}: the old and the new state of an object have the same key. */
function mapsToItself(mapper: unknown): boolean {
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
/** Milliseconds until `resourceType` of the client is called again, which rarely sends a request. */
const scopeValidMs = 1_000;

interface KnownScope {
  readonly type: ResourceType<KubernetesObject>;
  /** Time when discovery returned the type, by the monotonic clock. */
  readonly atMs: number;
}

/**
 * Resolves an owner's kind per client, since clusters may serve it with different scopes, and a CRD may be replaced by
 * one of another scope.
 */
class OwnerScopes {
  readonly #owner: TypeReference<KubernetesObject>;
  readonly #known = new WeakMap<Client, KnownScope>();
  /** Look-ups in progress, by the signal of the source that aborts them. */
  readonly #pending = new WeakMap<
    AbortSignal,
    Promise<ResourceType<KubernetesObject> | undefined>
  >();

  constructor(owner: TypeReference<KubernetesObject>) {
    this.#owner = owner;
  }

  /** Returns the kind if no request is needed, which keeps events in order. */
  known({ client, clock }: MapContext): ResourceType<KubernetesObject> | undefined {
    if ('plural' in this.#owner) return this.#owner;
    const { type, atMs = -Infinity } = this.#known.get(client) ?? {};
    return clock.monotonicMs() - atMs < scopeValidMs ? type : undefined;
  }

  /**
   * Retries discovery until it answers: a lost event would leave the owner stale until its next resync.
   * @returns undefined if the kind is not served
   */
  resolve(context: MapContext): Promise<ResourceType<KubernetesObject> | undefined> {
    const { signal } = context;
    const pending = this.#pending.get(signal) ?? this.#ask(context);
    this.#pending.set(signal, pending);
    return pending.finally(() => this.#pending.delete(signal));
  }

  async #ask(context: MapContext): Promise<ResourceType<KubernetesObject> | undefined> {
    const { client, logger, clock, signal } = context;
    for (;;) {
      try {
        const type = await client.resourceType(this.#owner);
        this.#known.set(client, { type, atMs: clock.monotonicMs() });
        return type;
      } catch (error) {
        if (isOperatorError(error, 'UnknownKind') || signal.aborted) return undefined;
        const known = this.#known.get(client);
        if (known !== undefined) {
          // Without this, each event would send a request and wait until the request fails.
          this.#known.set(client, { type: known.type, atMs: clock.monotonicMs() });
          return known.type;
        }
        logger.warn('the kind of the owners could not be looked up, and will be looked up again', {
          kind: this.#owner.kind,
          error,
        });
      }
      await waited(clock, scopeRetryMs, signal);
    }
  }
}

/**
 * Returns true if an event causes a reconcile. If it throws or returns a promise, the error is logged, and the event
 * causes a reconcile. A predicate can't be async, because events are delivered synchronously.
 */
export type Predicate<T extends KubernetesObject = KubernetesObject> = (
  event: CacheEvent<T>,
) => boolean;

/** A function for each type of event; an absent one accepts all events of its type. */
export interface EventPredicates<T extends KubernetesObject = KubernetesObject> {
  readonly added?: ((event: AddedEvent<T>) => boolean) | undefined;
  readonly updated?: ((event: UpdatedEvent<T>) => boolean) | undefined;
  readonly deleted?: ((event: DeletedEvent<T>) => boolean) | undefined;
}

/** Returns a predicate that has a function for each type of event. */
export function onEvents<T extends KubernetesObject>(predicates: EventPredicates<T>): Predicate<T> {
  const { added, updated, deleted } = predicates;
  return (event) => {
    switch (event.type) {
      case 'added':
        return added?.(event) ?? true;
      case 'updated':
        return updated?.(event) ?? true;
      case 'deleted':
        return deleted?.(event) ?? true;
    }
  };
}

/**
 * Returns a predicate that accepts an update only if `differs` returns true, or if the UID changed: the
 * object was recreated while the watch was interrupted.
 */
function updatedWhere(
  differs: (old: KubernetesObject, object: KubernetesObject) => boolean,
): Predicate {
  return onEvents({
    updated: ({ old, object }) => old.metadata.uid !== object.metadata.uid || differs(old, object),
  });
}

/**
 * Accepts updates only if the spec changed, not for status, labels and annotations. For kinds without
 * generations (ConfigMap, Secret) it accepts all.
 */
export function generationChanged(): Predicate {
  return updatedWhere(
    ({ metadata: { generation } }, object) =>
      generation === undefined || generation !== object.metadata.generation,
  );
}

/** Accepts updates only if the resource version changed. */
export function resourceVersionChanged(): Predicate {
  return updatedWhere(
    (old, object) => old.metadata.resourceVersion !== object.metadata.resourceVersion,
  );
}

/** Accepts updates only if a label changed; with `names`, only one of these labels. */
export function labelChanged(...names: readonly string[]): Predicate {
  return updatedWhere((old, object) => differ(old.metadata.labels, object.metadata.labels, names));
}

/** Accepts updates only if an annotation changed; with `names`, only one of these annotations. */
export function annotationChanged(...names: readonly string[]): Predicate {
  return updatedWhere((old, object) =>
    differ(old.metadata.annotations, object.metadata.annotations, names),
  );
}

/**
 * Accepts only objects that match, or that matched before the event, so that an object that stops matching is
 * reconciled too.
 * @param selector - `app=web,tier in (a,b)`, or a selector object
 * @throws OperatorError `InvalidSelector`
 */
export function labelSelector(selector: string | LabelSelector): Predicate {
  const requirements = labelRequirementsOf(selector);
  return (event) =>
    statesOf(event).some(({ metadata }) => matchesLabels(requirements, metadata.labels));
}

/**
 * Returns the result of `predicate`.
 * @throws the error of `predicate`
 * @throws OperatorError `InvalidValue`: it returned a promise, which would count as true.
 */
function answerOf<T extends KubernetesObject>(
  predicate: Predicate<T>,
  event: CacheEvent<T>,
): boolean {
  const answer: unknown = predicate(event);
  if (!isThenable(answer)) return answer as boolean;
  // Ignore its rejection, since nothing awaits the promise.
  answer.then(undefined, () => undefined);
  const message = 'a predicate must return a boolean, got a promise';
  throw new OperatorError('InvalidValue', message);
}

/** Accepts an event if all predicates accept it. */
export function and<T extends KubernetesObject>(
  ...predicates: readonly Predicate<T>[]
): Predicate<T> {
  return (event) => predicates.every((predicate) => answerOf(predicate, event));
}

/** Accepts an event if at least one predicate accepts it. */
export function or<T extends KubernetesObject>(
  ...predicates: readonly Predicate<T>[]
): Predicate<T> {
  return (event) => predicates.some((predicate) => answerOf(predicate, event));
}

/** Accepts an event if `predicate` rejects it. */
export function not<T extends KubernetesObject>(predicate: Predicate<T>): Predicate<T> {
  return (event) => !answerOf(predicate, event);
}

function statesOf<T extends KubernetesObject>(event: CacheEvent<T>): readonly T[] {
  return event.type === 'updated' ? [event.old, event.object] : [event.object];
}

type Texts = Readonly<Record<string, string>>;

function differ(before: Texts = {}, after: Texts = {}, names: readonly string[]): boolean {
  const compared = names.length > 0 ? names : Object.keys({ ...before, ...after });
  const own = (texts: Texts, name: string): string | undefined =>
    Object.hasOwn(texts, name) ? texts[name] : undefined;
  return compared.some((name) => own(before, name) !== own(after, name));
}
