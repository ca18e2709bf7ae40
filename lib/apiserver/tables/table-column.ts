import type { UnstructuredObject } from '../../object/kubernetes-object.js';

/** A column of a table, and how its cells are computed. */
export interface TableColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** `name` marks the column of names. @defaultValue '' */
  readonly format?: string;
  readonly description?: string;
  /** Above 0: shown in wide tables only. @defaultValue 0 */
  readonly priority?: number;
  readonly cell: (object: UnstructuredObject, nowMs: number) => unknown;
}
