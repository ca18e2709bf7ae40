import type { CacheEvent } from '../cache/informer.js';
import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import { keyString } from '../object/object-key.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Mapper } from './handlers.js';
import type { Predicate } from './predicates.js';
import type { Source, SourceContext } from './source.js';
import { eventTrigger } from './trigger.js';

/** Options of {@link kindSource}. */
export interface KindSourceOptions<T extends KubernetesObject> {
  /** What to reconcile. */
  readonly mapper: Mapper<T>;
  /** Which events matter. @defaultValue all */
  readonly predicate?: Predicate<T> | undefined;
  /** Watch `metadata` only: less traffic and memory. @defaultValue false */
  readonly metadataOnly?: boolean | undefined;
  /** Cache `managedFields`: the reconciler applies objects of the kind. @defaultValue false */
  readonly keepManagedFields?: boolean | undefined;
}

/** What existed before the controller started can wait for what happens now. */
export const initialListPriority = -100;

/** The changes of the objects of a kind. */
export function kindSource<T extends KubernetesObject>(
  type: TypeReference<T>,
  options: KindSourceOptions<T>,
): Source {
  return {
    name: type.kind,
    start: (context) => {
      const { metadataOnly, keepManagedFields } = options;
      const informer = context.cache.informer(type, { metadataOnly, keepManagedFields });
      informer.addHandler((event) => {
        if (matters(event, options.predicate, context)) enqueueMapped(event, options, context);
      });
      return {
        // Of a kind that is not served there is nothing to wait for.
        whenSynced: (signal) => informer.waitForSync(signal, { parked: 'pass' }),
        stop: () => informer.release(),
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
    return predicate?.(event) ?? true;
  } catch (error) {
    context.failed('predicate', error, event.object);
    // One reconcile too many does no harm, one too few does.
    return true;
  }
}

function enqueueMapped<T extends KubernetesObject>(
  event: CacheEvent<T>,
  { mapper }: KindSourceOptions<T>,
  context: SourceContext,
): void {
  const seen = new Set<string>();
  const request = { trigger: eventTrigger(event), priority: priorityOf(event) };
  const enqueue = (keys: readonly ObjectKey[]): void => {
    for (const key of keys) {
      const name = keyString(key);
      if (seen.has(name)) continue;
      seen.add(name);
      context.enqueue(key, request);
    }
  };
  const failed = (error: unknown): void => context.failed('mapper', error, event.object);
  const { client, logger } = context;
  for (const state of event.type === 'updated' ? [event.object, event.old] : [event.object]) {
    try {
      const keys = mapper(state, { event, client, logger });
      if (keys instanceof Promise) keys.then(enqueue).catch(failed);
      else enqueue(keys);
    } catch (error) {
      failed(error);
    }
  }
}

function priorityOf(event: CacheEvent): number {
  return event.type === 'added' && event.isInInitialList ? initialListPriority : 0;
}
