import type { ListMeta, UnstructuredObject } from '../../object/kubernetes-object.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ServerCore } from '../server-core.js';
import { clusterColumns } from './cluster-columns.js';
import { defaultColumns } from './table-column.js';
import { networkColumns } from './network-columns.js';
import { podColumns, workloadColumns } from './workload-columns.js';
import { storageColumns } from './storage-columns.js';
import type { TableColumn } from './table-column.js';

/** The part of the object that a row includes beside its cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** The kind and options of a table. */
interface TableView {
  readonly core: ServerCore;
  readonly kind: ServedKind;
  readonly includeObject: IncludeObject;
}

/** The content of a table. */
interface TableContent {
  /** The objects, in the version of the request. */
  readonly items: readonly UnstructuredObject[];
  readonly metadata: ListMeta;
  /** If true, the table has column definitions. Later events of a watch omit them. */
  readonly withColumns: boolean;
}

/** Returns a `meta.k8s.io/v1` Table, which kubectl prints. */
export function tableOf(view: TableView, content: TableContent): object {
  const columns = columnsOf(view.kind);
  const nowMs = view.core.clock.now();
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: content.metadata,
    columnDefinitions: content.withColumns ? columns.map(definitionOf) : null,
    rows: content.items.map((item) => ({
      cells: columns.map(({ cell }) => cell(item, nowMs)),
      object: rowObject(view, item),
    })),
  };
}

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

function rowObject({ includeObject }: TableView, item: UnstructuredObject): unknown {
  switch (includeObject) {
    case 'Object':
      return item;
    case 'None':
      return null;
    case 'Metadata':
      return {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: item.metadata,
      };
  }
}

const columns: Readonly<Partial<Record<string, readonly TableColumn[]>>> = {
  '/Pod': podColumns,
  ...clusterColumns,
  ...networkColumns,
  ...storageColumns,
  ...workloadColumns,
};

/** Returns the columns of a built-in kind; undefined if it has no columns of its own. */
function builtinColumns(group: string, kind: string): readonly TableColumn[] | undefined {
  return columns[`${group}/${kind}`];
}
