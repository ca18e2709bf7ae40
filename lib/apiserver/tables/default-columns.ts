import { definition } from '../kinds/definitions.js';
import type { TableColumn } from './table-column.js';

const metadata = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** The column of names, with which every table begins. */
export const nameColumn: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  get description() {
    return definition(metadata).properties?.['name']?.description ?? '';
  },
  cell: ({ metadata: { name } }) => name ?? '',
};

/** The columns of kinds that have none of their own. */
export const defaultColumns: readonly TableColumn[] = [
  nameColumn,
  {
    name: 'Created At',
    type: 'date',
    get description() {
      return definition(metadata).properties?.['creationTimestamp']?.description ?? '';
    },
    cell: ({ metadata: { creationTimestamp } }) => creationTimestamp ?? '<unknown>',
  },
];
