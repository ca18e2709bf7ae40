import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { isJsonObject } from '../../object/json.js';
import { rawDefinition } from '../kinds/definitions.js';
import { ageText } from './age.js';
import { metadataDoc, nameColumn } from './default-columns.js';
import type { TableColumn } from './table-column.js';

/** Returns the value at a path such as `spec.replicas`. */
export function valueAt(object: unknown, path: string): unknown {
  let value = object;
  for (const name of path.split('.')) value = isJsonObject(value) ? value[name] : undefined;
  return value;
}

/** Returns the text at a path; `otherwise` if it is missing or empty. */
export function textAt(object: unknown, path: string, otherwise = ''): string {
  const value = valueAt(object, path);
  if (value === undefined || value === null || value === '') return otherwise;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns the number at a path; 0 if it is missing. */
export function numberAt(object: unknown, path: string): number {
  const value = valueAt(object, path);
  return typeof value === 'number' ? value : 0;
}

/** Returns the list at a path; empty if it is missing. */
export function listAt(object: unknown, path: string): readonly unknown[] {
  const value = valueAt(object, path);
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** Returns the API's description of a field, for example of `apps.v1.DeploymentStatus` and `replicas`. */
export function fieldDoc(type: string, field: string): string {
  const definition = rawDefinition(`io.k8s.api.${type}`);
  const description = definition?.properties?.[field]?.['description'];
  // The OpenAPI document appends lists of enum values, which tables do not have.
  const [text = ''] = typeof description === 'string' ? description.split('\n\nPossible enum') : [];
  return text;
}

/** The definition of a column. Its description is read at its first use. */
export interface ColumnSpec {
  readonly name: string;
  readonly type?: TableColumn['type'];
  /** A text, or the type and field with the description. */
  readonly doc: string | readonly [type: string, field: string];
  readonly wide?: boolean;
  readonly format?: string;
  readonly cell: TableColumn['cell'];
}

/** Returns the column of `spec`. */
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

/** The age column. */
export const ageColumn: TableColumn = {
  name: 'Age',
  type: 'string',
  get description() {
    return metadataDoc('creationTimestamp');
  },
  cell: ({ metadata }: UnstructuredObject, nowMs) => ageText(metadata.creationTimestamp, nowMs),
};

/** Returns the name column, the narrow columns of `specs`, the age column, then the wide ones. */
export function columnsOf(specs: readonly ColumnSpec[]): readonly TableColumn[] {
  const narrow = specs.filter(({ wide }) => wide !== true).map(column);
  const wide = specs.filter(({ wide: isWide }) => isWide === true).map(column);
  return [nameColumn, ...narrow, ageColumn, ...wide];
}
