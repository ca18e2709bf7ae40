import type { Client, WatchEvent } from '../client/client.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { keyStringOf } from '../object/object-key.js';
import type { TypeReference } from '../object/resource-type.js';
import type { WatchScope } from './watch-attempt.js';

/** A whole collection at one resource version. */
export interface InitialList<T extends KubernetesObject> {
  /** The objects by key. */
  readonly objects: ReadonlyMap<string, T>;
  readonly resourceVersion: string;
}

/** Options of {@link listPages}. */
export interface PagedListOptions<T extends KubernetesObject> {
  readonly client: Client;
  readonly type: TypeReference<T>;
  readonly scope: WatchScope;
  /** Applied to each object on arrival, so that a large list is never held unprocessed. */
  readonly intake: (object: T) => T;
  /** `one` requests the whole list in one page. */
  readonly pages: 'many' | 'one';
  readonly signal: AbortSignal;
}

/** The largest limit that every server accepts. */
const onePageLimit = 2 ** 31 - 1;

/**
 * Lists page by page.
 * @throws the errors of `Client.pages`
 */
export async function listPages<T extends KubernetesObject>(
  options: PagedListOptions<T>,
): Promise<InitialList<T>> {
  const { client, type, scope, intake, pages, signal } = options;
  const objects = new Map<string, T>();
  // The version of the first page: if later pages are newer, the watch repeats their changes.
  let resourceVersion: string | undefined;
  const limit = pages === 'one' ? onePageLimit : undefined;
  for await (const page of client.pages(type, { ...scope, limit, signal })) {
    resourceVersion ??= page.metadata.resourceVersion ?? '';
    for (const item of page.items) {
      const object = intake(item);
      objects.set(keyStringOf(object), object);
    }
  }
  return { objects, resourceVersion: resourceVersion ?? '' };
}

/** Collects the initial objects of a streaming list (KEP-3157). */
export class InitialEvents<T extends KubernetesObject> {
  readonly #objects = new Map<string, T>();
  readonly #intake: (object: T) => T;

  constructor(intake: (object: T) => T) {
    this.#intake = intake;
  }

  /**
   * Processes an event.
   * @returns the list, at the bookmark that ends it; undefined before that
   */
  take(event: WatchEvent<T>): InitialList<T> | undefined {
    if (event.type === 'BOOKMARK') {
      if (!event.initialEventsEnd) return undefined;
      return { objects: this.#objects, resourceVersion: event.resourceVersion };
    }
    const object = this.#intake(event.object);
    if (event.type === 'DELETED') this.#objects.delete(keyStringOf(object));
    else this.#objects.set(keyStringOf(object), object);
    return undefined;
  }
}
