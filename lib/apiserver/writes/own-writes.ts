import { formatTime } from '../../object/index.js';
import type { UnstructuredObject } from '../../object/index.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ServerCore } from '../server-core.js';
import { storageKey } from '../server-core.js';
import type { Change, LogEntry } from '../storage/mvcc-log.js';
import { createObject } from './create-object.js';
import { trackUpdate } from './managed-fields.js';
import { decodeObject } from './write-request.js';
import type { WriteRequest } from './write-request.js';

/** A resource of the server itself. */
export interface OwnResource {
  readonly group: string;
  readonly plural: string;
}

/** Returns the kind of a built-in resource in version v1. */
export function ownKind({ kinds }: ServerCore, { group, plural }: OwnResource): ServedKind {
  const kind = kinds.find(group, 'v1', plural);
  if (kind === undefined) throw new Error(`no built-in kind with the plural ${plural}`);
  return kind;
}

/** Returns a write of the server itself, which no webhook has to admit. */
export function ownRequest(
  kind: ServedKind,
  {
    name = '',
    manager = 'kube-apiserver',
    subresource,
  }: Partial<Pick<WriteRequest, 'name' | 'manager' | 'subresource'>>,
): WriteRequest {
  const fieldValidation = 'Ignore';
  const warn = (): void => undefined;
  return { kind, subresource, namespace: '', name, manager, dryRun: false, fieldValidation, warn };
}

/** Objects of the server itself, and the manager that creates them. */
export interface OwnObjects extends OwnResource {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly manager?: string;
}

/** Creates cluster-scoped objects as the server itself, without admission by webhooks. */
export function createOwn(core: ServerCore, resource: OwnObjects): void {
  const { items, manager } = resource;
  const request = ownRequest(ownKind(core, resource), manager === undefined ? {} : { manager });
  for (const value of items) {
    createObject(core, { request, object: decodeObject(request, { value }) });
  }
}

const changesAtStart = new Map<string, readonly LogEntry[]>();

/**
 * Creates the objects of a resource that every new server has. The first server of the process creates them by the
 * write path. Later servers copy the changes of the first, including those that listeners of the log made in
 * response.
 */
export function createAtStart(core: ServerCore, resource: OwnObjects): void {
  const name = `${resource.group}/${resource.plural}`;
  const known = changesAtStart.get(name);
  if (known !== undefined) {
    core.log.commitAll(repeated(core, known));
    return;
  }
  const changes: LogEntry[] = [];
  const unsubscribe = core.log.subscribe((entry) => void changes.push(entry));
  createOwn(core, resource);
  unsubscribe();
  changesAtStart.set(name, changes);
}

/** Copies the changes that another server made at its start. The copies get new uids and the time of this server. */
function repeated(core: ServerCore, entries: readonly LogEntry[]): readonly Change[] {
  const time = formatTime(core.clock.now());
  const uids = new Map<string, string>();
  return entries.map(({ collection, key, object }) => {
    const path = `${collection}/${key}`;
    const uid = uids.get(path) ?? core.random.uuid();
    uids.set(path, uid);
    const { metadata, status } = object as UnstructuredObject & WithConditions;
    const managedFields = (metadata.managedFields ?? []).map((field) => ({ ...field, time }));
    const conditions = status?.conditions?.map((one) => ({ ...one, lastTransitionTime: time }));
    const changed = {
      metadata: { ...metadata, uid, creationTimestamp: time, managedFields },
      ...(conditions !== undefined && { status: { ...status, conditions } }),
    };
    return { collection, key, object: { ...object, ...changed } };
  });
}

interface WithConditions {
  readonly status?: { readonly conditions?: readonly object[] };
}

/** Stores `next`, a change of the status of the built-in object `old`. */
export function storeStatus(
  core: ServerCore,
  kind: ServedKind,
  { old, next }: { readonly old: UnstructuredObject; readonly next: UnstructuredObject },
): void {
  const { name = '', namespace = '' } = next.metadata;
  const request = { ...ownRequest(kind, { name, subresource: 'status' }), namespace };
  const tracked = trackUpdate(core, request, old, next);
  const object = { ...tracked, metadata: { ...tracked.metadata } };
  core.log.commit({ collection: kind.collection, key: storageKey(namespace, name), object });
}
