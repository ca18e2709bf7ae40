import type { CacheEvent } from '../cache/informer.js';
import type { Client } from '../client/client.js';
import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import { keyOf } from '../object/object-key.js';
import { apiVersionOf, groupOf } from '../object/resource-type.js';
import type { ResourceType, TypeReference } from '../object/resource-type.js';
import { sleep } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import { isOperatorError } from '../system/operator-error.js';
import type { ReconcileKey } from './reconcile-key.js';
import { refuseUnknownOptions } from '../system/known-options.js';

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
