import type { Client, WatchEvent } from '../client/client.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { keyOf, keyString } from '../object/object-key.js';
import type { TypeReference } from '../object/resource-type.js';
import type { WatchScope } from './watch-attempt.js';

/** A whole collection as of a version. */
export interface InitialList<T extends KubernetesObject> {
  readonly objects: readonly T[];
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
  const objects: T[] = [];
  // The first page's: should later pages be newer, the watch repeats what they show.
  let resourceVersion: string | undefined;
  const limit = pages === 'one' ? onePageLimit : undefined;
  for await (const page of client.pages(type, { ...scope, limit, signal })) {
    resourceVersion ??= page.metadata.resourceVersion ?? '';
    for (const object of page.items) objects.push(intake(object));
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
      return { objects: [...this.#objects.values()], resourceVersion: event.resourceVersion };
    }
    const key = keyString(keyOf(event.object));
    if (event.type === 'DELETED') this.#objects.delete(key);
    else this.#objects.set(key, this.#intake(event.object));
    return undefined;
  }
}
