import { isJsonObject } from '../../object/index.js';
import type { UnstructuredObject } from '../../object/index.js';
import { rawDefinition } from '../kinds/documents.js';

/** A column of a table, and how its cells are computed. */
export interface TableColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** The format; `name` marks the name column. @defaultValue '' */
  readonly format?: string;
  readonly description?: string;
  /** The priority; columns above 0 appear only in wide tables. @defaultValue 0 */
  readonly priority?: number;
  readonly cell: (object: UnstructuredObject, nowMs: number) => unknown;
}

const metadata = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** Returns the API's description of a field of `metadata`. */
export function metadataDoc(field: string): string {
  const description = rawDefinition(metadata)?.properties?.[field]?.['description'];
  return typeof description === 'string' ? description : '';
}

/** The name column, the first one of every table. */
export const nameColumn: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  get description() {
    return metadataDoc('name');
  },
  cell: ({ metadata: { name } }) => name ?? '',
};

/** Returns the name column of a kind of classes. It marks the default class, which has `annotation`. */
export function classNameColumn(annotation: string): TableColumn {
  return {
    ...nameColumn,
    cell: ({ metadata: { name = '', annotations } }) =>
      annotations?.[annotation] === 'true' ? `${name} (default)` : name,
  };
}

/** The columns of kinds without columns of their own. */
export const defaultColumns: readonly TableColumn[] = [
  nameColumn,
  {
    name: 'Created At',
    type: 'date',
    get description() {
      return metadataDoc('creationTimestamp');
    },
    cell: ({ metadata: { creationTimestamp } }) => creationTimestamp ?? '<unknown>',
  },
];

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

/** The definition of a column: it shows the field at `path`, or what `cell` computes. */
export interface ColumnSpec {
  readonly name: string;
  /** The type of the cells. @defaultValue 'string' */
  readonly type?: TableColumn['type'];
  /**
   * A text, or the type and field with the description, which is read at its first use.
   * @defaultValue the type `of` and the last name in `path`
   */
  readonly doc?: string | readonly [type: string, field: string];
  readonly of?: string;
  readonly path?: string;
  /** The text for a missing field. @defaultValue '' */
  readonly absent?: string;
  readonly wide?: boolean;
  /** A narrow column that follows the age. @defaultValue false */
  readonly afterAge?: boolean;
  readonly format?: string;
  readonly cell?: TableColumn['cell'];
}

export function column(spec: ColumnSpec): TableColumn {
  const { name, type = 'string', wide = false, format = '', of = '', path = '', absent } = spec;
  const { doc = [of, path.slice(path.lastIndexOf('.') + 1)] } = spec;
  const shown: TableColumn['cell'] = (object) => {
    if (type === 'integer') return numberAt(object, path);
    return type === 'boolean' ? valueAt(object, path) === true : textAt(object, path, absent);
  };
  return {
    name,
    type,
    format,
    priority: wide ? 1 : 0,
    cell: spec.cell ?? shown,
    get description() {
      return typeof doc === 'string' ? doc : fieldDoc(doc[0], doc[1]);
    },
  };
}

export const ageColumn: TableColumn = {
  name: 'Age',
  type: 'string',
  get description() {
    return metadataDoc('creationTimestamp');
  },
  cell: ({ metadata }: UnstructuredObject, nowMs) => ageText(metadata.creationTimestamp, nowMs),
};

/** Returns the name column, the narrow columns of `specs`, the age column, then the other ones. */
export function columnsOf(specs: readonly ColumnSpec[]): readonly TableColumn[] {
  const isLater = ({ wide = false, afterAge = false }: ColumnSpec): boolean => wide || afterAge;
  const early = specs.filter((spec) => !isLater(spec)).map(column);
  return [nameColumn, ...early, ageColumn, ...specs.filter(isLater).map(column)];
}

/** Formats the time since `timestamp` as kubectl prints ages: `5s`, `3m20s`, `4h`, `12d`, `2y35d`. */
export function ageText(timestamp: string | null | undefined, nowMs: number): string {
  if (timestamp === undefined || timestamp === null || timestamp === '') return '<unknown>';
  return durationText(nowMs - Date.parse(timestamp));
}

/**
 * Formats milliseconds as kubectl prints durations: at most two units, the smaller one only beside a small number of
 * the larger one.
 */
export function durationText(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (Number.isNaN(seconds) || seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return joined(`${minutes}m`, `${seconds % 60}s`);
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return joined(`${hours}h`, `${minutes % 60}m`);
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (hours < 24 * 8) return joined(`${days}d`, `${hours % 24}h`);
  if (days < 365 * 2) return `${days}d`;
  const years = Math.trunc(days / 365);
  return days < 365 * 8 ? joined(`${years}y`, `${days % 365}d`) : `${years}y`;
}

function joined(large: string, small: string): string {
  return small.startsWith('0') ? large : large + small;
}
