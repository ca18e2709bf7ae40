import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { CustomColumn } from '../kinds/served-kind.js';
import { ageText } from '../tables/age.js';
import { metadataDoc, nameColumn } from '../tables/default-columns.js';
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

/** The columns of a custom resource: its name, then those that the CRD names, or its age. */
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
    // Not before it is asked for: what the API says of `metadata` is unpacked for it.
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
