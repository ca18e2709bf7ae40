import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { CustomColumn } from '../kinds/served-kind.js';
import { ageText, metadataDoc, nameColumn } from '../tables/table-column.js';
import type { TableColumn } from '../tables/table-column.js';
import { compileJsonPath, readJsonPath } from '../../crd/validation/json-path.js';

const ageColumn: CustomColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  get description() {
    return metadataDoc('creationTimestamp');
  },
};

/**
 * Returns the columns of a custom resource: its name, then the columns of its CRD, or its age if
 * the CRD has no columns.
 */
export function customColumns(columns: readonly CustomColumn[] | undefined): TableColumn[] {
  const own = columns === undefined || columns.length === 0 ? [ageColumn] : columns;
  return [nameColumn, ...own.map(tableColumn)];
}

function tableColumn(column: CustomColumn): TableColumn {
  const { name, type, jsonPath, format = '', priority = 0 } = column;
  const path = compileJsonPath(jsonPath);
  return {
    name,
    type: type as TableColumn['type'],
    format,
    priority,
    // A getter, because the description of `metadata` is unpacked at its first use.
    get description() {
      const ofPath = `Custom resource definition column (in JSONPath format): ${jsonPath}`;
      return column.description ?? ofPath;
    },
    cell: (object: UnstructuredObject, nowMs: number) => {
      const [value] = readJsonPath(object, path);
      return cellOf(value, type, nowMs);
    },
  };
}

function cellOf(value: unknown, type: string, nowMs: number): unknown {
  if (type === 'date') return typeof value === 'string' ? ageText(value, nowMs) : null;
  if (value === undefined || value === null) return null;
  if (type === 'string') return typeof value === 'string' ? value : JSON.stringify(value);
  if (type === 'boolean') return typeof value === 'boolean' ? value : null;
  return typeof value === 'number' ? value : null;
}
