import type { UnstructuredObject } from '../../object/index.js';
import { classNameColumn, columnsOf, listAt, textAt, valueAt } from './table-column.js';
import type { TableColumn } from './table-column.js';

const modes: Readonly<Partial<Record<string, string>>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

function accessModes(object: UnstructuredObject, path: string): string {
  const given = new Set(listAt(object, path) as string[]);
  return Object.keys(modes)
    .filter((mode) => given.has(mode))
    .map((mode) => modes[mode] ?? mode)
    .join(',');
}

function phase(object: UnstructuredObject): string {
  return object.metadata.deletionTimestamp === undefined
    ? textAt(object, 'status.phase')
    : 'Terminating';
}

const isBound = (object: UnstructuredObject): boolean => textAt(object, 'spec.volumeName') !== '';
const claim = 'core.v1.PersistentVolumeClaim';
const volume = 'core.v1.PersistentVolume';
const storageClass = 'storage.v1.StorageClass';

const storageClassColumns = columnsOf([
  { name: 'Provisioner', of: storageClass, path: 'provisioner' },
  { name: 'ReclaimPolicy', of: storageClass, path: 'reclaimPolicy', absent: 'Delete' },
  { name: 'VolumeBindingMode', of: storageClass, path: 'volumeBindingMode', absent: 'Immediate' },
  {
    name: 'AllowVolumeExpansion',
    doc: [storageClass, 'allowVolumeExpansion'],
    cell: (object) => valueAt(object, 'allowVolumeExpansion') === true,
  },
]);

/** The columns of storage, by group and kind. */
export const storageColumns: Readonly<Record<string, readonly TableColumn[]>> = {
  '/PersistentVolumeClaim': columnsOf([
    { name: 'Status', doc: [`${claim}Status`, 'phase'], cell: phase },
    { name: 'Volume', of: `${claim}Spec`, path: 'spec.volumeName' },
    {
      name: 'Capacity',
      doc: [`${claim}Status`, 'capacity'],
      cell: (object) => (isBound(object) ? textAt(object, 'status.capacity.storage', '0') : ''),
    },
    {
      name: 'Access Modes',
      doc: [`${claim}Status`, 'accessModes'],
      cell: (object) => (isBound(object) ? accessModes(object, 'status.accessModes') : ''),
    },
    { name: 'StorageClass', doc: 'StorageClass of the pvc', path: 'spec.storageClassName' },
    {
      name: 'VolumeAttributesClass',
      doc: 'VolumeAttributesClass of the pvc',
      path: 'spec.volumeAttributesClassName',
      absent: '<unset>',
    },
    {
      name: 'VolumeMode',
      of: `${claim}Spec`,
      path: 'spec.volumeMode',
      absent: '<unset>',
      wide: true,
    },
  ]),
  '/PersistentVolume': columnsOf([
    {
      name: 'Capacity',
      doc: [`${volume}Spec`, 'capacity'],
      path: 'spec.capacity.storage',
      absent: '0',
    },
    {
      name: 'Access Modes',
      doc: [`${volume}Spec`, 'accessModes'],
      cell: (object) => accessModes(object, 'spec.accessModes'),
    },
    { name: 'Reclaim Policy', of: `${volume}Spec`, path: 'spec.persistentVolumeReclaimPolicy' },
    { name: 'Status', doc: [`${volume}Status`, 'phase'], cell: phase },
    {
      name: 'Claim',
      doc: [`${volume}Spec`, 'claimRef'],
      cell: (object) => {
        if (valueAt(object, 'spec.claimRef') === undefined) return '';
        return `${textAt(object, 'spec.claimRef.namespace')}/${textAt(object, 'spec.claimRef.name')}`;
      },
    },
    { name: 'StorageClass', doc: 'StorageClass of the pv', path: 'spec.storageClassName' },
    {
      name: 'VolumeAttributesClass',
      doc: 'VolumeAttributesClass of the pv',
      path: 'spec.volumeAttributesClassName',
      absent: '<unset>',
    },
    { name: 'Reason', of: `${volume}Status`, path: 'status.reason' },
    {
      name: 'VolumeMode',
      of: `${volume}Spec`,
      path: 'spec.volumeMode',
      absent: '<unset>',
      wide: true,
    },
  ]),
  'storage.k8s.io/StorageClass': [
    classNameColumn('storageclass.kubernetes.io/is-default-class'),
    ...storageClassColumns.slice(1),
  ],
};
