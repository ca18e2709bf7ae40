import type { ListMeta, UnstructuredObject } from '../../object/index.js';
import { apiVersionOf, isJsonObject, withoutMembers } from '../../object/index.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { listToProtobuf, objectToProtobuf } from '../protobuf/objects.js';
import type { Encoding, Representation } from '../requests/body.js';
import type { ServerCore } from '../server-core.js';
import { clusterColumns, networkColumns } from '../tables/cluster-columns.js';
import { extensionColumns } from '../tables/extension-columns.js';
import { storageColumns } from '../tables/storage-columns.js';
import { defaultColumns } from '../tables/table-column.js';
import type { TableColumn } from '../tables/table-column.js';
import { podColumns } from '../tables/pod-columns.js';
import { workloadColumns } from '../tables/workload-columns.js';

/** The form of the objects in the answer to a request. */
export interface View {
  readonly core: ServerCore;
  readonly kind: ServedKind;
  readonly representation: Representation;
  readonly encoding: Encoding;
  /** The type that the client requests in place of the object's own, such as `Table`; empty if none. */
  readonly as: string;
  /** The version of tables and metadata. */
  readonly metaVersion: string;
  /** The part of each object that the rows of a table include. */
  readonly includeObject: IncludeObject;
}

/** Converts an object to the form that the request accepts. The object must be in the version of the request. */
export function represent(view: View, given: UnstructuredObject, first = true): unknown {
  const object = shown(view.kind, given);
  switch (view.representation) {
    case 'object':
      return object;
    case 'metadata':
      return partialOf(view, object);
    case 'table': {
      const { resourceVersion } = object.metadata;
      const metadata = resourceVersion === undefined ? {} : { resourceVersion };
      return tableOf(view, { items: [object], metadata, withColumns: first });
    }
  }
}

/** Returns a stored object as clients read it, in the version of `kind`. */
export function readable(kind: ServedKind, stored: UnstructuredObject): UnstructuredObject {
  return shown(kind, kind.fromStorage(stored));
}

function shown({ rules }: ServedKind, object: UnstructuredObject): UnstructuredObject {
  return rules.shown === undefined ? object : rules.shown(object);
}

/** Serialises a list of stored objects to JSON or protobuf, in pieces. */
export function* representList(
  view: View,
  metadata: ListMeta,
  items: readonly UnstructuredObject[],
): Generator<string | Uint8Array> {
  const { kind, representation, metaVersion } = view;
  if (representation === 'table') {
    const rows = items.map((item) => readable(kind, item));
    yield JSON.stringify(tableOf(view, { items: rows, metadata, withColumns: true }));
    return;
  }
  // Lists of custom resources have `continue` even on the last page.
  const own = kind.custom === undefined ? metadata : { continue: '', ...metadata };
  const head =
    representation === 'metadata'
      ? { kind: 'PartialObjectMetadataList', apiVersion: metaVersion, metadata }
      : { kind: kind.listKind, apiVersion: apiVersionOf(kind.type), metadata: own };
  if (view.encoding === 'protobuf') {
    const represented = items.map((item) => represent(view, kind.fromStorage(item)));
    yield* listToProtobuf(head, represented as UnstructuredObject[]);
    return;
  }
  if (representation === 'metadata' && items.length === 0) {
    // The real server writes null for an empty list here.
    yield JSON.stringify({ ...head, items: null });
    return;
  }
  let text = `${JSON.stringify(head).slice(0, -1)},"items":[`;
  let separator = '';
  for (const item of items) {
    text += separator + listItem(view, readable(kind, item));
    separator = ',';
    if (text.length > pieceLength) {
      yield text;
      text = '';
    }
  }
  yield `${text}]}`;
}

const pieceLength = 256 * 1024;

function listItem(view: View, object: UnstructuredObject): string {
  if (view.representation === 'metadata' || view.kind.custom !== undefined) {
    return JSON.stringify(represent(view, object));
  }
  // The items of a typed list have no `kind` and `apiVersion`, as on the real server.
  const text = JSON.stringify(object);
  const typeMeta = `{"kind":"${object.kind}","apiVersion":"${object.apiVersion}",`;
  return text.startsWith(typeMeta)
    ? `{${text.slice(typeMeta.length)}`
    : JSON.stringify(withoutMembers(object, 'kind', 'apiVersion'));
}

/**
 * A cache of the JSON and protobuf of recently sent objects, so that one change with many watchers is
 * serialised once. Its size is bounded: the oldest object is evicted first.
 */
export class SerializedObjects {
  readonly #capacity: number;
  readonly #entries = new Map<UnstructuredObject, SerializedObject>();

  /** Creates an empty cache. @param capacity - maximum number of objects. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Returns the JSON of `object`, which must be frozen. */
  json(object: UnstructuredObject): string {
    return (this.#entry(object).json ??= JSON.stringify(object));
  }

  /** Returns the protobuf encoding of `object`, which must be frozen and of a built-in kind. */
  protobuf(object: UnstructuredObject): Uint8Array {
    return (this.#entry(object).protobuf ??= objectToProtobuf(object));
  }

  #entry(object: UnstructuredObject): SerializedObject {
    const known = this.#entries.get(object);
    if (known !== undefined) return known;
    if (this.#entries.size >= this.#capacity) {
      for (const [oldest] of this.#entries) {
        this.#entries.delete(oldest);
        break;
      }
    }
    const entry: SerializedObject = {};
    this.#entries.set(object, entry);
    return entry;
  }
}

interface SerializedObject {
  json?: string;
  protobuf?: Uint8Array;
}

/** The part of the object that a row includes in addition to its cells. */
type IncludeObject = 'None' | 'Metadata' | 'Object';

interface TableContent {
  /** The objects, in the version of the request. */
  readonly items: readonly UnstructuredObject[];
  readonly metadata: ListMeta;
  /** True if the table has column definitions. Later events of a watch omit them. */
  readonly withColumns: boolean;
}

/** Returns the objects of a list in the order of their rows: FlowSchemas by precedence, others as they are listed. */
function inTableOrder(
  { type }: ServedKind,
  items: readonly UnstructuredObject[],
): readonly UnstructuredObject[] {
  if (type.group !== 'flowcontrol.apiserver.k8s.io' || type.kind !== 'FlowSchema') return items;
  const precedence = ({ spec }: UnstructuredObject): number =>
    (spec as { readonly matchingPrecedence: number }).matchingPrecedence;
  return items.toSorted((one, other) => precedence(one) - precedence(other));
}

/** Returns a Table of `meta.k8s.io`, which kubectl prints. */
function tableOf(view: View, content: TableContent): object {
  const columns = columnsOf(view.kind);
  const nowMs = view.core.clock.now();
  const { kind } = view;
  // The cells show the stored version of a built-in kind.
  const celled = (item: UnstructuredObject): UnstructuredObject =>
    kind.custom === undefined ? kind.toStorage(item) : item;
  const rows = inTableOrder(kind, content.items).map((item) => ({
    cells: columns.map(({ cell }) => cell(celled(item), nowMs)),
    ...rowConditions(kind, item),
    object: rowObject(view, item),
  }));
  return {
    kind: 'Table',
    apiVersion: view.metaVersion,
    metadata: content.metadata,
    columnDefinitions: content.withColumns ? columns.map(definitionOf) : null,
    // The real server writes null for an empty list of a kind without columns of its own.
    rows: rows.length === 0 && columns === defaultColumns ? null : rows,
  };
}

/** Returns the condition of the row of a Pod that has ended. */
function rowConditions({ type }: ServedKind, { status }: UnstructuredObject): object {
  if (type.kind !== 'Pod' || type.group !== '' || !isJsonObject(status)) return {};
  const reason = String(status['phase']);
  const message = endMessages[reason];
  if (message === undefined) return {};
  return { conditions: [{ type: 'Completed', status: 'True', reason, message }] };
}

const endMessages: Readonly<Partial<Record<string, string>>> = {
  Succeeded: 'The pod has completed successfully.',
  Failed: 'The pod failed.',
};

function columnsOf(kind: ServedKind): readonly TableColumn[] {
  const { group, kind: name } = kind.type;
  if (kind.custom !== undefined) return kind.rules.columns ?? defaultColumns;
  return builtinColumns(group, name) ?? defaultColumns;
}

function definitionOf({ name, type, format = '', description = '', priority = 0 }: TableColumn): {
  name: string;
} & Record<string, unknown> {
  return { name, type, format, description, priority };
}

function rowObject(view: View, item: UnstructuredObject): unknown {
  switch (view.includeObject) {
    case 'Object':
      return item;
    case 'None':
      return null;
    case 'Metadata':
      return partialOf(view, item);
  }
}

/** Returns the metadata of an object as a `PartialObjectMetadata`. */
function partialOf(
  { kind: { rules }, metaVersion }: View,
  { metadata }: UnstructuredObject,
): object {
  const partial = { kind: 'PartialObjectMetadata', apiVersion: metaVersion };
  const { annotations } = metadata;
  const { hiddenAnnotation } = rules;
  if (hiddenAnnotation === undefined || annotations?.[hiddenAnnotation] === undefined) {
    return { ...partial, metadata };
  }
  const others = withoutMembers(annotations, hiddenAnnotation);
  const rest = withoutMembers(metadata, 'annotations');
  const isEmpty = Object.keys(others).length === 0;
  return { ...partial, metadata: isEmpty ? rest : { ...rest, annotations: others } };
}

const columns: Readonly<Partial<Record<string, readonly TableColumn[]>>> = {
  '/Pod': podColumns,
  ...clusterColumns,
  ...extensionColumns,
  ...networkColumns,
  ...storageColumns,
  ...workloadColumns,
};

/** Returns the columns of a built-in kind; undefined if it has no columns of its own. */
function builtinColumns(group: string, kind: string): readonly TableColumn[] | undefined {
  return columns[`${group}/${kind}`];
}
