import { clusterColumns } from './cluster-columns.js';
import { networkColumns } from './network-columns.js';
import { podColumns } from './pod-columns.js';
import { storageColumns } from './storage-columns.js';
import type { TableColumn } from './table-column.js';
import { workloadColumns } from './workload-columns.js';

const columns: Readonly<Partial<Record<string, readonly TableColumn[]>>> = {
  '/Pod': podColumns,
  ...clusterColumns,
  ...networkColumns,
  ...storageColumns,
  ...workloadColumns,
};

/** Returns the columns of a built-in kind; undefined if it has no columns of its own. */
export function builtinColumns(group: string, kind: string): readonly TableColumn[] | undefined {
  return columns[`${group}/${kind}`];
}
