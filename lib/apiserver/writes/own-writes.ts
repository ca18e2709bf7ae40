import type { UnstructuredObject } from '../../object/index.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ServerCore } from '../server-core.js';
import { storageKey } from '../server-core.js';
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
  if (kind === undefined) throw new Error(`the data has no ${plural}`);
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

/** Creates cluster-scoped objects. */
export function createOwn(
  core: ServerCore,
  resource: OwnResource & {
    readonly items: readonly Readonly<Record<string, unknown>>[];
    readonly manager?: string;
  },
): void {
  const { items, manager } = resource;
  const request = ownRequest(ownKind(core, resource), manager === undefined ? {} : { manager });
  for (const value of items) {
    createObject(core, { request, object: decodeObject(request, { value }) });
  }
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
