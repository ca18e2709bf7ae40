import type { ObjectKey, UnstructuredObject, ResourceType } from '../object/index.js';
import { apiVersionOf, groupOf, Pod, versionOf } from '../object/index.js';
import { WebhookAdmission } from './admission/webhook-admission.js';
import { subjectOf, subresourceKind } from './kinds/served-kind.js';
import type { ServedKind } from './kinds/served-kind.js';
import { admitCreate } from './requests/request-admission.js';
import { bindPod, withTopology } from './requests/subresource-requests.js';
import { findObject, hasAdmission, storageKey } from './server-core.js';
import type { ServerCore } from './server-core.js';
import { notFound, unknownResource } from './status-error.js';
import type { LogEntry, MvccLog } from './storage/mvcc-log.js';
import { createObject } from './writes/create-object.js';
import { deleteObject } from './writes/delete-object.js';
import { putObject } from './writes/put-object.js';
import { updateObject } from './writes/update-object.js';
import { decodeObject } from './writes/write-request.js';
import type { WriteHooks, WriteRequest } from './writes/write-request.js';

/** A committed change, in the order of the server's log. */
export interface CommittedChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resourceType: ResourceType;
  readonly object: UnstructuredObject;
  /** The object before the change; absent for `ADDED`. */
  readonly previous?: UnstructuredObject | undefined;
}

/** Options of the writes of {@link Loopback}. */
export interface LoopbackWriteOptions {
  /** The field manager, for example `kube-controller-manager`. */
  readonly manager: string;
  readonly subresource?: string | undefined;
}

/** Options of {@link Loopback.delete}. */
export interface LoopbackDeleteOptions {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
}

/** Options of {@link Loopback.put}. */
export interface LoopbackPutOptions {
  /** The field manager of the whole object, recorded as an apply. */
  readonly manager: string;
  /** The approximate size of the object's JSON, in bytes. */
  readonly bytes: number;
  /** Run all steps but do not store the object. @defaultValue false */
  readonly dryRun?: boolean | undefined;
}

/** Result of {@link Loopback.put}. */
export interface PutObject {
  /** The object before the write. */
  readonly live: UnstructuredObject | undefined;
  /** The stored object; the same instance as `live` if nothing changed. */
  readonly stored: UnstructuredObject;
}

/**
 * Reads and writes of the server's own controllers: the write path of HTTP requests, without HTTP. Returned
 * objects are frozen and shared. Writes throw `StatusError`.
 */
export interface Loopback {
  /**
   * Returns an object. If a webhook converts its kind, the object has its stored version, which may differ from `type`.
   */
  get(type: ResourceType, key: ObjectKey): UnstructuredObject | undefined;
  /** Returns objects in the versions of {@link Loopback.get}. */
  list(type: ResourceType, namespace?: string): readonly UnstructuredObject[];
  /** Returns every kind that is served now, in its storage version. */
  resourceTypes(): readonly ResourceType[];
  /** Returns the objects of any kind with an owner reference to `uid`. */
  dependents(uid: string): readonly { resourceType: ResourceType; object: UnstructuredObject }[];
  /** Calls `listener` after each committed change. @returns a function that ends the subscription */
  subscribe(listener: (change: CommittedChange) => void): () => void;
  /** Calls `listener` before the store gets the content of a snapshot. */
  onRestore(listener: () => void): void;
  create(object: UnstructuredObject, options: LoopbackWriteOptions): Promise<UnstructuredObject>;
  /** Replaces an object or its subresource. A `resourceVersion` in the object must be that of the live object. */
  update(object: UnstructuredObject, options: LoopbackWriteOptions): Promise<UnstructuredObject>;
  /**
   * Stores a custom resource of a server with `looseCustomResources`, with one comparison and one commit, if no other
   * manager owns fields of it. The object has a name, labels, annotations and any content without nulls. The store
   * shares and freezes parts of it.
   * @returns undefined if nothing was written; the caller must then use a regular write
   */
  put(object: UnstructuredObject, options: LoopbackPutOptions): PutObject | undefined;
  delete(type: ResourceType, key: ObjectKey, options?: LoopbackDeleteOptions): Promise<void>;
}

/** The {@link Loopback} of a server: its write path without requests. */
export class ServerLoopback implements Loopback {
  readonly #core: ServerCore;
  readonly #owners: OwnerIndex;

  constructor(core: ServerCore) {
    this.#core = core;
    this.#owners = new OwnerIndex(core.log);
  }

  get(type: ResourceType, key: ObjectKey): UnstructuredObject | undefined {
    const { name, namespace = '' } = key;
    const kind = this.#kindOf(type);
    const stored = this.#core.log.collection(kind.collection).get(storageKey(namespace, name));
    return stored && read(kind, stored);
  }

  list(type: ResourceType, namespace = ''): readonly UnstructuredObject[] {
    const kind = this.#kindOf(type);
    const collection = this.#core.log.collection(kind.collection);
    const keys = collection.keys(namespace === '' ? '' : `${namespace}/`);
    const stored = keys.map((key) => collection.get(key));
    return stored.filter((object) => object !== undefined).map((object) => read(kind, object));
  }

  resourceTypes(): readonly ResourceType[] {
    return this.#core.kinds.stored().map(({ type }) => type);
  }

  dependents(uid: string): readonly { resourceType: ResourceType; object: UnstructuredObject }[] {
    const { log, kinds } = this.#core;
    return this.#owners.dependentsOf(uid).flatMap(({ collection, key }) => {
      const object = log.collection(collection).get(key);
      const kind = kinds.storedIn(collection);
      if (object === undefined || kind === undefined) return [];
      return [{ resourceType: kind.type, object: read(kind, object) }];
    });
  }

  subscribe(listener: (change: CommittedChange) => void): () => void {
    const { log, kinds } = this.#core;
    return log.subscribe(({ type, collection, object, previous }) => {
      const kind = kinds.storedIn(collection);
      if (kind !== undefined) listener({ type, resourceType: kind.type, object, previous });
    });
  }

  onRestore(listener: () => void): void {
    this.#core.log.onRestore(listener);
  }

  async create(
    object: UnstructuredObject,
    options: LoopbackWriteOptions,
  ): Promise<UnstructuredObject> {
    const isBinding = options.subresource === 'binding';
    return this.#run(() =>
      isBinding ? this.#bind(object, options) : this.#create(object, options),
    );
  }

  #bind(object: UnstructuredObject, { manager }: LoopbackWriteOptions): UnstructuredObject {
    const kind = this.#kindOf(Pod);
    const { name = '', namespace = '' } = object.metadata;
    const objectKind = subresourceKind(kind, { group: '', version: 'v1', kind: object.kind });
    const write = { kind, subresource: 'binding', namespace, name, manager, objectKind };
    const hooks = this.#hooks(write);
    const binding = withTopology(this.#core, object);
    return bindPod(this.#core, hooks === undefined ? binding : admitCreate(hooks, binding));
  }

  #create(object: UnstructuredObject, options: LoopbackWriteOptions): UnstructuredObject {
    const request = this.#writeOf(object, { ...options, subresource: undefined });
    const decoded = decodeObject(request, { value: object });
    return createObject(this.#core, { request: { ...request, name: '' }, object: decoded }).object;
  }

  async update(
    object: UnstructuredObject,
    options: LoopbackWriteOptions,
  ): Promise<UnstructuredObject> {
    return this.#run(() => this.#update(object, options));
  }

  #update(object: UnstructuredObject, options: LoopbackWriteOptions): UnstructuredObject {
    const request = this.#writeOf(object, options);
    const live = findObject(this.#core, request.kind, request);
    if (live === undefined) throw notFound(subjectOf(request.kind, request.name));
    const value = served(request.kind, object);
    const next = decodeObject(request, { value });
    return updateObject(this.#core, { request, live, next }).object;
  }

  put(object: UnstructuredObject, options: LoopbackPutOptions): PutObject | undefined {
    const { apiVersion, kind } = object;
    const { kinds } = this.#core;
    if (kinds.findKind(groupOf(apiVersion), versionOf(apiVersion), kind) === undefined) {
      return undefined;
    }
    const { manager, ...rest } = options;
    const request = this.#writeOf(object, { manager });
    return request.hooks === undefined ? putObject(this.#core, request, object, rest) : undefined;
  }

  async delete(
    type: ResourceType,
    key: ObjectKey,
    options: LoopbackDeleteOptions = {},
  ): Promise<void> {
    const kind = this.#kindOf(type);
    const { name, namespace = '' } = key;
    const settings = { ...options, dryRun: false };
    const manager = 'kube-controller-manager';
    const hooks = this.#hooks({ kind, namespace, name, subresource: undefined, manager });
    await this.#run(() =>
      deleteObject(this.#core, { kind, name, namespace, options: settings, hooks }),
    );
  }

  #kindOf({ group, version, plural }: ResourceType): ServedKind {
    const kind = this.#core.kinds.find(group, version, plural);
    if (kind === undefined) throw unknownResource();
    return kind;
  }

  /** Runs `work`. While webhooks exist, `work` may run several times: see `Outside.run`. */
  #run<T>(work: () => T): T | Promise<T> {
    const { outside } = this.#core;
    return outside.needed ? outside.run(work) : work();
  }

  #hooks(
    write: Pick<WriteRequest, 'kind' | 'subresource' | 'namespace' | 'name' | 'manager'> & {
      readonly objectKind?: ServedKind;
    },
  ): WriteHooks | undefined {
    if (!hasAdmission(this.#core)) return undefined;
    const { kind, subresource = '', name, manager, objectKind } = write;
    const own = kind.type.group === '' && kind.type.plural === 'namespaces';
    return new WebhookAdmission(this.#core, {
      kind,
      objectKind,
      subresource,
      name,
      namespace: own ? name : write.namespace,
      user: { username: `system:${manager}`, groups: ['system:authenticated'] },
      authorizer: this.#core.access.authorizer,
      dryRun: false,
      options: {},
      warn: () => undefined,
    });
  }

  #writeOf(object: UnstructuredObject, options: LoopbackWriteOptions): WriteRequest {
    const { apiVersion, metadata } = object;
    const group = groupOf(apiVersion);
    const { kinds } = this.#core;
    // An object may be stored in a version that is no longer served.
    const kind =
      kinds.findKind(group, versionOf(apiVersion), object.kind) ??
      kinds.stored().find(({ type }) => type.group === group && type.kind === object.kind);
    if (kind === undefined) throw unknownResource();
    const write = {
      kind,
      subresource: options.subresource,
      namespace: metadata.namespace ?? '',
      name: metadata.name ?? '',
      manager: options.manager,
    };
    return {
      ...write,
      hooks: this.#hooks(write),
      dryRun: false,
      fieldValidation: 'Ignore',
      warn: () => undefined,
    };
  }
}

/** Reads an object without calling a webhook, because listeners of the log also read, synchronously. */
function read(kind: ServedKind, stored: UnstructuredObject): UnstructuredObject {
  return kind.conversions === undefined ? kind.fromStorage(stored) : stored;
}

/** Returns `object`, a result of `read`, in the version of `kind`. The conversion may call a webhook. */
function served(kind: ServedKind, object: UnstructuredObject): UnstructuredObject {
  return object.apiVersion === apiVersionOf(kind.type) ? object : kind.fromStorage(object);
}

/** Location of a stored object. */
interface StoredAt {
  readonly collection: string;
  readonly key: string;
}

/** Finds the dependents of an owner by its uid, of any kind. */
class OwnerIndex {
  readonly #dependents = new Map<string, Map<string, StoredAt>>();

  constructor(log: MvccLog) {
    log.subscribe((entry) => this.#follow(entry));
  }

  /** Returns the locations of the objects with an owner reference to `uid`. */
  dependentsOf(uid: string): readonly StoredAt[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])];
  }

  #follow({ type, collection, key, object, previous }: LogEntry): void {
    const before = previous === undefined ? [] : ownersOf(previous);
    const after = type === 'DELETED' ? [] : ownersOf(object);
    if (before.length === 0 && after.length === 0) return;
    const id = `${collection} ${key}`;
    for (const uid of before) if (!after.includes(uid)) this.#remove(uid, id);
    for (const uid of after) {
      const dependents = this.#dependents.get(uid) ?? new Map<string, StoredAt>();
      this.#dependents.set(uid, dependents);
      dependents.set(id, { collection, key });
    }
  }

  #remove(uid: string, id: string): void {
    const dependents = this.#dependents.get(uid);
    dependents?.delete(id);
    if (dependents?.size === 0) this.#dependents.delete(uid);
  }
}

function ownersOf({ metadata }: UnstructuredObject): readonly string[] {
  return (metadata.ownerReferences ?? []).map(({ uid }) => uid);
}
