import type { Client, WatchEvent } from '../client/client.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { keyStringOf } from '../object/object-key.js';
import type { TypeReference } from '../object/resource-type.js';
import type { WatchScope } from './watch-attempt.js';

/** A whole collection as of a version. */
export interface InitialList<T extends KubernetesObject> {
  /** By key. */
  readonly objects: ReadonlyMap<string, T>;
  readonly resourceVersion: string;
}

/** What {@link listPages} needs. */
export interface PagedListOptions<T extends KubernetesObject> {
  readonly client: Client;
  readonly type: TypeReference<T>;
  readonly scope: WatchScope;
  /** What is done to each object right after it came, so that a large list is never kept raw. */
  readonly intake: (object: T) => T;
  /** `one`: all at once. */
  readonly pages: 'many' | 'one';
  readonly signal: AbortSignal;
}

/** All in one page: the largest limit that every server takes. */
const onePageLimit = 2 ** 31 - 1;

/** Lists page by page. @throws what `Client.pages` throws */
export async function listPages<T extends KubernetesObject>(
  options: PagedListOptions<T>,
): Promise<InitialList<T>> {
  const { client, type, scope, intake, pages, signal } = options;
  const objects = new Map<string, T>();
  // The first page's: should later pages be newer, the watch repeats what they show.
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

/** Gathers the objects that a streaming list (KEP-3157) begins with. */
export class InitialEvents<T extends KubernetesObject> {
  readonly #objects = new Map<string, T>();
  readonly #intake: (object: T) => T;

  constructor(intake: (object: T) => T) {
    this.#intake = intake;
  }

  /** Takes an event. @returns the list, with the bookmark that ends it */
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
