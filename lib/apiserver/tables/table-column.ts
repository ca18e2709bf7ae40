import type { UnstructuredObject } from '../../object/kubernetes-object.js';

/** A column of a table, and how its cells are computed. */
export interface TableColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /**
   * The format; `name` marks the name column.
   * @defaultValue ''
   */
  readonly format?: string;
  readonly description?: string;
  /**
   * The priority; columns above 0 appear only in wide tables.
   * @defaultValue 0
   */
  readonly priority?: number;
  readonly cell: (object: UnstructuredObject, nowMs: number) => unknown;
}
