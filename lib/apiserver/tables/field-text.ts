import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { isJsonObject } from '../../object/json.js';
import { rawDefinition } from '../kinds/definitions.js';
import { ageText } from './age.js';
import { metadataDoc, nameColumn } from './default-columns.js';
import type { TableColumn } from './table-column.js';

/** The value at a path such as `spec.replicas`. */
export function valueAt(object: unknown, path: string): unknown {
  let value = object;
  for (const name of path.split('.')) value = isJsonObject(value) ? value[name] : undefined;
  return value;
}

/** The text at a path; `otherwise` where there is none, or an empty one. */
export function textAt(object: unknown, path: string, otherwise = ''): string {
  const value = valueAt(object, path);
  if (value === undefined || value === null || value === '') return otherwise;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The number at a path; 0 where there is none. */
export function numberAt(object: unknown, path: string): number {
  const value = valueAt(object, path);
  return typeof value === 'number' ? value : 0;
}

/** The list at a path; empty where there is none. */
export function listAt(object: unknown, path: string): readonly unknown[] {
  const value = valueAt(object, path);
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** What the API says of a field, for example of `apps.v1.DeploymentStatus` and `replicas`. */
export function fieldDoc(type: string, field: string): string {
  const definition = rawDefinition(`io.k8s.api.${type}`);
  const description = definition?.properties?.[field]?.['description'];
  // Lists of enum values are added for the document only.
  const [text = ''] = typeof description === 'string' ? description.split('\n\nPossible enum') : [];
  return text;
}

/** What a column is made of; its description is read when it is first shown. */
export interface ColumnSpec {
  readonly name: string;
  readonly type?: TableColumn['type'];
  /** A text, or the type and field whose description it is. */
  readonly doc: string | readonly [type: string, field: string];
  readonly wide?: boolean;
  readonly format?: string;
  readonly cell: TableColumn['cell'];
}

/** A column. */
export function column(spec: ColumnSpec): TableColumn {
  const { name, type = 'string', doc, wide = false, format = '', cell } = spec;
  return {
    name,
    type,
    format,
    priority: wide ? 1 : 0,
    cell,
    get description() {
      return typeof doc === 'string' ? doc : fieldDoc(doc[0], doc[1]);
    },
  };
}

/** The column of ages. */
export const ageColumn: TableColumn = {
  name: 'Age',
  type: 'string',
  get description() {
    return metadataDoc('creationTimestamp');
  },
  cell: ({ metadata }: UnstructuredObject, nowMs) => ageText(metadata.creationTimestamp, nowMs),
};

/** Names, the columns of `specs`, ages, then what is wide. */
export function columnsOf(specs: readonly ColumnSpec[]): readonly TableColumn[] {
  const narrow = specs.filter(({ wide }) => wide !== true).map(column);
  const wide = specs.filter(({ wide: isWide }) => isWide === true).map(column);
  return [nameColumn, ...narrow, ageColumn, ...wide];
}
