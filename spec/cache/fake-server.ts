import type { Client, ListOptions, WatchEvent, WatchOptions } from '../../lib/client/client.js';
import { ApiError } from '../../lib/object/api-error.js';
import { isDeeperThan, maxDepth } from '../../lib/object/depth.js';
import { matchesFields } from '../../lib/object/field-selector.js';
import type { KubernetesObject, ObjectKey } from '../../lib/object/kubernetes-object.js';
import { matchesLabels } from '../../lib/object/label-selector.js';
import { keyOf, keyString } from '../../lib/object/object-key.js';
import { apiVersionOf } from '../../lib/object/resource-type.js';
import type { ResourceType } from '../../lib/object/resource-type.js';
import { OperatorError } from '../../lib/system/operator-error.js';

/** The parts of a request that specs check. */
export interface FakeRequest {
  readonly verb: string;
  readonly options: ListOptions & Omit<WatchOptions, 'resourceVersionMatch'>;
}

/** An object of the only kind that a {@link FakeServer} serves. */
export interface Thing extends KubernetesObject {
  spec?: { size?: number; color?: string };
}

/** The resource under which the server serves a Thing. */
export const Thing: ResourceType<Thing> = {
  group: 'example.com',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
};

interface LogEntry {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: Thing;
}

interface Watcher {
  readonly options: WatchOptions;
  readonly queue: (WatchEvent<Thing> | Error | 'end')[];
  wake: () => void;
}

/** Returns the error for a `Status` of a real server. */
export function apiError(status: number, reason = '', verb = 'list'): ApiError {
  return new ApiError({ code: status, reason, message: reason }, { verb, kind: 'Thing', status });
}

/**
 * A simulated server of Things, which the method `client` returns as a Client. It is kept simple: a map, a log,
 * watches, and the faults that a reflector has to handle.
 */
export class FakeServer {
  /** Requests that begin a read, in order. */
  readonly requests: FakeRequest[] = [];
  /** Errors that the next reads of each verb throw, first in, first out. */
  readonly failures: Record<string, unknown[]> = {};
  /** Whether a watch can begin with a list; `ignored`: the server ignores `sendInitialEvents`, like an old one. */
  streamingLists: boolean | 'ignored' = true;
  pageSize = 500;
  /** Withholds watch events while it is set, so that the cache falls behind. */
  paused = false;
  /** Number of events to send before the stream stalls. */
  eventsLeft = Infinity;
  /** Runs before each page of a list but the first; pages show the objects of that moment. */
  beforePage: () => void = () => undefined;
  readonly #type: ResourceType<KubernetesObject>;
  readonly #objects = new Map<string, Thing>();
  readonly #watchers = new Set<Watcher>();
  #log: LogEntry[] = [];
  #version = 100;
  #uids = 0;

  /** @param type - the only kind that it serves */
  constructor(type: ResourceType<KubernetesObject> = Thing) {
    this.#type = type;
  }

  get watches(): number {
    return this.#watchers.size;
  }

  get version(): string {
    return String(this.#version);
  }

  has(name: string, namespace = 'ns'): boolean {
    return this.#objects.has(`${namespace}/${name}`);
  }

  objects(): Thing[] {
    return [...this.#objects.values()];
  }

  /** Creates or changes an object as another client. */
  put(name: string, fields: Partial<Thing> = {}, namespace = 'ns'): Thing {
    const old = this.#objects.get(`${namespace}/${name}`);
    const resourceVersion = String(++this.#version);
    const uid = old?.metadata.uid ?? `uid-${++this.#uids}`;
    // A real server keeps finalizers that a writer leaves out.
    const managedFields = fields.metadata?.managedFields ?? old?.metadata.managedFields;
    const kept = managedFields && { managedFields };
    const metadata = { ...fields.metadata, ...kept, name, namespace, uid, resourceVersion };
    const { kind } = this.#type;
    const object = { ...fields, apiVersion: apiVersionOf(this.#type), kind, metadata };
    this.#objects.set(`${namespace}/${name}`, object);
    this.#commit({ type: old === undefined ? 'ADDED' : 'MODIFIED', object });
    return copyOf(object);
  }

  remove(name: string, namespace = 'ns'): void {
    const old = this.#objects.get(`${namespace}/${name}`);
    if (old === undefined) throw apiError(404, 'NotFound', 'delete');
    this.#objects.delete(`${namespace}/${name}`);
    const resourceVersion = String(++this.#version);
    const object = { ...old, metadata: { ...old.metadata, resourceVersion } };
    this.#commit({ type: 'DELETED', object });
  }

  /** Clears the log: watches from earlier versions get a 410. */
  compact(): void {
    this.#log = [];
  }

  /** Ends all watches, with or without an error. */
  disconnect(how: Error | 'end' = 'end'): void {
    for (const watcher of this.#watchers) this.#send(watcher, how);
  }

  /** Restores an empty backup, which is older than any version that clients have received. */
  rollBack(): void {
    this.#objects.clear();
    this.#log = [];
    this.#version = 50;
    for (const watcher of this.#watchers) watcher.queue.length = 0;
    this.bookmark();
  }

  bookmark(): void {
    for (const watcher of this.#watchers) this.#send(watcher, this.#bookmark(false));
  }

  /** Sends the watch events withheld while `paused` was set. */
  resume(): void {
    this.paused = false;
    for (const watcher of this.#watchers) watcher.wake();
  }

  /** Sends an event to all watches without logging it. */
  inject(event: WatchEvent<Thing>): void {
    for (const watcher of this.#watchers) this.#send(watcher, event);
  }

  /** Returns the server as a Client that serves only Things. */
  client(): Client {
    const client: Partial<Client> = {
      resourceType: async () => this.#type as never,
      list: async (_, options = {}) => {
        this.#began('list', options);
        const metadata = { resourceVersion: this.version };
        return { kind: 'ThingList', metadata, items: this.#selected(options) } as never;
      },
      deleteCollection: async (_, options = {}) => {
        if (options.dryRun === true) return;
        for (const { metadata } of this.#selected(options)) {
          this.remove(metadata.name ?? '', metadata.namespace);
        }
      },
      get: async (_, key, options = {}) => {
        this.#began('get', options);
        return this.#found(key) as never;
      },
      pages: (_, options = {}) => this.#pages(options) as never,
      watch: (_, options = {}) => this.#watch(options) as never,
      create: async (object) => {
        const { name, namespace } = keyOf(object);
        if (this.#objects.has(keyString({ name, namespace }))) {
          throw apiError(409, 'AlreadyExists', 'create');
        }
        return this.put(name, object, namespace) as never;
      },
      update: async (object) => {
        const { name, namespace } = keyOf(object);
        const live = this.#found({ name, namespace });
        const sent = object.metadata.resourceVersion ?? live.metadata.resourceVersion;
        if (sent !== live.metadata.resourceVersion) throw apiError(409, 'Conflict', 'update');
        return this.put(name, object, namespace) as never;
      },
      patch: async (_, { name, namespace }, patch) => {
        const live = this.#found({ name, namespace });
        const operations = patch.type === 'json' ? patch.operations : [];
        const isRefused = operations.some(
          (each) =>
            each.op === 'test' &&
            each.path === '/metadata/resourceVersion' &&
            each.value !== live.metadata.resourceVersion,
        );
        if (isRefused) throw apiError(422, 'Invalid', 'patch');
        return this.put(name, live, namespace) as never;
      },
      delete: async (_, { name, namespace }, { preconditions = {}, dryRun = false } = {}) => {
        if (dryRun) return undefined;
        const uid = this.#objects.get(keyString({ name, namespace }))?.metadata.uid;
        if ((preconditions.uid ?? uid) !== uid) throw apiError(409, 'Conflict', 'delete');
        this.remove(name, namespace);
        return undefined;
      },
    };
    return client as Client;
  }

  #found(key: ObjectKey): Thing {
    const object = this.#objects.get(keyString(key));
    if (object === undefined) throw apiError(404, 'NotFound', 'get');
    return copyOf(object);
  }

  #began(verb: string, options: FakeRequest['options']): void {
    this.requests.push({ verb, options });
    const failure = this.failures[verb]?.shift();
    if (failure !== undefined) throw failure as Error;
  }

  #selected(options: ListOptions | WatchOptions): Thing[] {
    return this.objects().filter((object) => isSelected(object, options));
  }

  async *#pages(options: ListOptions): AsyncGenerator {
    this.#began('list', options);
    // Pages continue after a name, as with a continue token: a deletion between two pages moves no other object.
    const names = this.#selected(options).map((object) => keyString(keyOf(object)));
    const { length } = names;
    const size = Math.min(options.limit ?? this.pageSize, Math.max(1, length));
    for (let at = 0; at === 0 || at < length; at += size) {
      if (at > 0) {
        this.#began('page', options);
        this.beforePage();
      }
      const metadata = { resourceVersion: this.version };
      const page = new Set(names.slice(at, at + size));
      const items = this.#selected(options).filter((object) => page.has(keyString(keyOf(object))));
      yield { kind: 'ThingList', metadata, items: copyOf(items) };
    }
  }

  async *#watch(options: WatchOptions): AsyncGenerator<WatchEvent<Thing>> {
    this.#began('watch', options);
    const watcher: Watcher = { options, queue: [], wake: () => undefined };
    this.#begin(watcher);
    this.#watchers.add(watcher);
    const { signal } = options;
    const onAbort = (): void => watcher.wake();
    signal?.addEventListener('abort', onAbort);
    try {
      for (;;) {
        if (signal?.aborted === true) throw new OperatorError('Aborted', 'watch aborted');
        const isStalled = this.paused || this.eventsLeft <= 0;
        const next = isStalled ? undefined : watcher.queue.shift();
        if (next !== undefined) this.eventsLeft--;
        if (next === 'end') return;
        if (next instanceof Error) throw next;
        if (next !== undefined) yield copyOf(next);
        else await new Promise<void>((resolve) => (watcher.wake = resolve));
      }
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#watchers.delete(watcher);
    }
  }

  #begin(watcher: Watcher): void {
    const { sendInitialEvents = false, resourceVersion = '' } = watcher.options;
    if (sendInitialEvents) {
      if (!this.streamingLists) throw apiError(422, 'Invalid', 'watch');
      for (const object of this.#selected(watcher.options)) {
        watcher.queue.push({ type: 'ADDED', object });
      }
      if (this.streamingLists === true) watcher.queue.push(this.#bookmark(true));
      return;
    }
    const from = Number(resourceVersion);
    const missing = this.#version - this.#log.length > from;
    if (missing) throw apiError(410, 'Expired', 'watch');
    for (const entry of this.#log) {
      if (entry.version > from) this.#offer(watcher, entry);
    }
  }

  #commit(entry: Omit<LogEntry, 'version'>): void {
    const logged = { ...entry, version: this.#version };
    this.#log.push(logged);
    for (const watcher of this.#watchers) this.#offer(watcher, logged);
  }

  #offer(watcher: Watcher, { type, object }: LogEntry): void {
    if (isSelected(object, watcher.options)) this.#send(watcher, { type, object });
  }

  #send(watcher: Watcher, event: WatchEvent<Thing> | Error | 'end'): void {
    watcher.queue.push(event);
    watcher.wake();
  }

  #bookmark(initialEventsEnd: boolean): WatchEvent<Thing> {
    return { type: 'BOOKMARK', resourceVersion: this.version, initialEventsEnd };
  }
}

function isSelected(object: Thing, options: ListOptions | WatchOptions): boolean {
  const { namespace = '', labelSelector = '', fieldSelector = '' } = options;
  return (
    (namespace === '' || object.metadata.namespace === namespace) &&
    matchesLabels(labelSelector, object.metadata.labels) &&
    matchesFields(fieldSelector, object)
  );
}

/** Returns a copy, or the value itself if it is too deep for `structuredClone`. */
function copyOf<T>(value: T): T {
  return isDeeperThan(value, maxDepth) ? value : structuredClone(value);
}
