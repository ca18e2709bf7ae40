import { compareResourceVersions } from '../cache/index.js';
import type { Client, WatchEvent, WatchOptions, WriteOptions } from '../client/index.js';
import { forwarding } from '../client/index.js';
import type {
  KubernetesObject,
  ObjectKey,
  ObjectList,
  UnstructuredObject,
  GroupKind,
  TypeReference,
} from '../object/index.js';
import { apiVersionOf, groupOf } from '../object/index.js';
import { LruMap } from '../system/index.js';
import type { ObjectChange } from './object-news.js';

/** The newest version of an object that a client has received. */
interface KnownObject {
  readonly object: UnstructuredObject;
  readonly isGone?: boolean;
  /** The last change of the object, if it is not reported yet. The object may turn out to belong to the operator. */
  readonly unreported?: ObjectChange | undefined;
}

/**
 * Maximum number of deletions to keep. A few are enough: the response to a deletion and its watch event arrive soon
 * after each other.
 */
const mostGone = 1_000;

/**
 * Reports the changes of an operator's objects from the traffic of its client. It reports the client's
 * writes, and watch events of three kinds of objects: the operator's custom resources, the objects that they
 * own, and the objects that the client wrote.
 *
 * ## Guarantees
 * - Each change is reported once: by the response to the write or by the watch event, whichever comes first.
 * - It sends no requests: objects that the operator neither watches nor writes are not reported.
 */
export class ObservedObjects {
  readonly #onChange: (change: ObjectChange) => void;
  readonly #existing = new Map<string, KnownObject>();
  readonly #gone = new LruMap<string, KnownObject>(mostGone);
  readonly #written = new Set<string>();
  #kinds: ReadonlySet<string> = new Set();

  constructor(onChange: (change: ObjectChange) => void) {
    this.#onChange = onChange;
  }

  /** Sets the custom resources of the operator. */
  use(resources: readonly GroupKind[]): void {
    this.#kinds = new Set(resources.map(({ group, kind }) => `${group}/${kind}`));
  }

  /** Records an object that was read; this is not a change. */
  read(object: KubernetesObject): void {
    const known = this.#known(idOf(object));
    if (known === undefined || isNewer(object, known)) this.#keep({ object: plain(object) });
  }

  /** Handles a watch event. */
  watched(type: ObjectChange['type'], object: KubernetesObject): void {
    const known = this.#known(idOf(object));
    // This is the first event of an object that was neither listed nor added, so the change is unknown.
    if (known === undefined && type === 'MODIFIED') {
      this.read(object);
      return;
    }
    if (known !== undefined) {
      const isKnown = isSame(object, known);
      // The event is the deletion itself, or older than it.
      if (isKnown && known.isGone === true) return;
      if (!isNewer(object, known) && !(isKnown && type === 'DELETED')) return;
    }
    this.#changed(changeOf(type, plain(object), known), this.#isOwn(object));
  }

  /** Handles the response to a write. */
  wrote(type: ObjectChange['type'], object: KubernetesObject): void {
    const { uid } = object.metadata;
    // The server answers reviews but does not store them.
    if (uid === undefined) return;
    // Events are written once and never read.
    if (object.kind === 'Event') {
      this.#onChange({ type, object: plain(object) });
      return;
    }
    this.#written.add(uid);
    const known = this.#known(idOf(object));
    if (known === undefined && type === 'MODIFIED') {
      // The object was never read: the change is unknown.
      this.#keep({ object: plain(object) });
    } else if (known === undefined || isNewer(object, known)) {
      this.#changed(changeOf(type, plain(object), known), true);
    } else if (known.unreported !== undefined) {
      this.#keep({ ...known, unreported: undefined });
      this.#onChange(known.unreported);
    }
  }

  /** Handles a deletion. @param left - the object, if finalizers or its grace period keep it */
  deleted(type: TypeReference<KubernetesObject>, key: ObjectKey, left?: KubernetesObject): void {
    if (left !== undefined) {
      this.wrote('MODIFIED', left);
      return;
    }
    const { kind } = type;
    const { namespace, name } = key;
    const metadata = { name, ...(namespace !== undefined && { namespace }) };
    const named = { apiVersion: apiVersionOf(type), kind, metadata };
    const known = this.#known(idOf(named));
    if (known?.isGone === true) {
      if (known.unreported !== undefined) this.#onChange(known.unreported);
      return;
    }
    this.#changed({ type: 'DELETED', object: known?.object ?? named }, true);
  }

  #changed(change: ObjectChange, isOwn: boolean): void {
    const { type, object } = change;
    const isGone = type === 'DELETED';
    this.#keep({ object, isGone, unreported: isOwn ? undefined : change });
    if (isOwn) this.#onChange(change);
  }

  #known(id: string): KnownObject | undefined {
    return this.#existing.get(id) ?? this.#gone.get(id);
  }

  #keep(known: KnownObject): void {
    const id = idOf(known.object);
    if (known.isGone === true) {
      this.#existing.delete(id);
      this.#gone.set(id, known);
      this.#written.delete(known.object.metadata.uid ?? '');
    } else {
      this.#gone.delete(id);
      this.#existing.set(id, known);
    }
  }

  #isOwn({ apiVersion, kind, metadata }: KubernetesObject): boolean {
    const { uid = '', ownerReferences = [] } = metadata;
    if (this.#written.has(uid) || this.#kinds.has(`${groupOf(apiVersion)}/${kind}`)) return true;
    return ownerReferences.some((owner) =>
      this.#kinds.has(`${groupOf(owner.apiVersion)}/${owner.kind}`),
    );
  }
}

/** Wraps `client` so that `objects` records every object that the client reads and writes. */
export function observed(client: Client, objects: ObservedObjects): Client {
  return {
    ...forwarding(client),
    ...observedWrites(client, objects),
    get: async (type, key, options = {}) => {
      const object = await client.get(type, key, options);
      if (isWhole(options)) objects.read(object);
      return object;
    },
    list: async (type, options = {}) => {
      const list = await client.list(type, options);
      if (isWhole(options)) for (const object of list.items) objects.read(object);
      return list;
    },
    pages: (type, options = {}) => {
      const pages = client.pages(type, options);
      return isWhole(options) ? observedPages(pages, objects) : pages;
    },
    watch: (type, options = {}) => {
      const events = client.watch(type, options);
      return isWhole(options) ? observedEvents(events, objects, options) : events;
    },
  };
}

type Writes = Pick<Client, 'create' | 'update' | 'patch' | 'apply' | 'delete'>;

function observedWrites(client: Client, objects: ObservedObjects): Writes {
  return {
    create: async (object, options = {}) => {
      const created = await client.create(object, options);
      if (isStored(options)) objects.wrote('ADDED', created);
      return created;
    },
    update: async (object, options = {}) => {
      const updated = await client.update(object, options);
      if (isStored(options)) objects.wrote('MODIFIED', updated);
      return updated;
    },
    patch: async (type, key, patch, options = {}) => {
      const patched = await client.patch(type, key, patch, options);
      if (isStored(options)) objects.wrote('MODIFIED', patched);
      return patched;
    },
    apply: async (object, options = {}) => {
      const applied = await client.apply(object, options);
      if (isStored(options)) objects.wrote(applied.created ? 'ADDED' : 'MODIFIED', applied.object);
      return applied;
    },
    delete: async (type, key, options = {}) => {
      const left = await client.delete(type, key, options);
      if (options.dryRun !== true) objects.deleted(type, key, left);
      return left;
    },
  };
}

async function* observedPages<T extends KubernetesObject>(
  pages: AsyncIterable<ObjectList<T>>,
  objects: ObservedObjects,
): AsyncGenerator<ObjectList<T>, void> {
  for await (const page of pages) {
    for (const object of page.items) objects.read(object);
    yield page;
  }
}

async function* observedEvents<T extends KubernetesObject>(
  events: AsyncIterable<WatchEvent<T>>,
  objects: ObservedObjects,
  { resourceVersion, sendInitialEvents = false }: WatchOptions,
): AsyncGenerator<WatchEvent<T>, void> {
  let isListing = sendInitialEvents || resourceVersion === undefined;
  for await (const event of events) {
    if (event.type === 'BOOKMARK') isListing &&= !event.initialEventsEnd;
    else if (isListing) objects.read(event.object);
    else objects.watched(event.type, event.object);
    yield event;
  }
}

/** Returns whether responses contain the object itself with all its fields. */
function isWhole(options: {
  readonly metadataOnly?: boolean | undefined;
  readonly subresource?: string | undefined;
}): boolean {
  return options.metadataOnly !== true && options.subresource === undefined;
}

/** Returns whether the response to a write is the object as stored. */
function isStored({ dryRun = false, subresource = 'status', parent }: WriteOptions): boolean {
  return !dryRun && subresource === 'status' && parent === undefined;
}

function changeOf(
  type: ObjectChange['type'],
  object: UnstructuredObject,
  known: KnownObject | undefined,
): ObjectChange {
  if (type === 'DELETED') return { type, object };
  const isKnown = known !== undefined && known.isGone !== true && isSame(object, known);
  // A watch reports an object that starts to match its selector as added.
  return isKnown ? { type: 'MODIFIED', object, previous: known.object } : { type: 'ADDED', object };
}

function isSame({ metadata }: KubernetesObject, known: KnownObject): boolean {
  return metadata.uid === known.object.metadata.uid;
}

function isNewer(object: KubernetesObject, known: KnownObject): boolean {
  const [version, other] = [object.metadata, known.object.metadata];
  const order = compareResourceVersions(version.resourceVersion, other.resourceVersion);
  return order === undefined || order > 0;
}

function idOf({ apiVersion, kind, metadata }: KubernetesObject): string {
  const { namespace = '', name = '' } = metadata;
  return `${groupOf(apiVersion)}/${kind} ${namespace}/${name}`;
}

function plain(object: KubernetesObject): UnstructuredObject {
  return object as UnstructuredObject;
}
