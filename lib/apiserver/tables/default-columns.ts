import { rawDefinition } from '../kinds/definitions.js';
import type { TableColumn } from './table-column.js';

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
