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
  {
    name: 'Provisioner',
    doc: [storageClass, 'provisioner'],
    cell: (object) => textAt(object, 'provisioner'),
  },
  {
    name: 'ReclaimPolicy',
    doc: [storageClass, 'reclaimPolicy'],
    cell: (object) => textAt(object, 'reclaimPolicy', 'Delete'),
  },
  {
    name: 'VolumeBindingMode',
    doc: [storageClass, 'volumeBindingMode'],
    cell: (object) => textAt(object, 'volumeBindingMode', 'Immediate'),
  },
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
    {
      name: 'Volume',
      doc: [`${claim}Spec`, 'volumeName'],
      cell: (object) => textAt(object, 'spec.volumeName'),
    },
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
    {
      name: 'StorageClass',
      doc: 'StorageClass of the pvc',
      cell: (object) => textAt(object, 'spec.storageClassName'),
    },
    {
      name: 'VolumeAttributesClass',
      doc: 'VolumeAttributesClass of the pvc',
      cell: (object) => textAt(object, 'spec.volumeAttributesClassName', '<unset>'),
    },
    {
      name: 'VolumeMode',
      doc: [`${claim}Spec`, 'volumeMode'],
      wide: true,
      cell: (object) => textAt(object, 'spec.volumeMode', '<unset>'),
    },
  ]),
  '/PersistentVolume': columnsOf([
    {
      name: 'Capacity',
      doc: [`${volume}Spec`, 'capacity'],
      cell: (object) => textAt(object, 'spec.capacity.storage', '0'),
    },
    {
      name: 'Access Modes',
      doc: [`${volume}Spec`, 'accessModes'],
      cell: (object) => accessModes(object, 'spec.accessModes'),
    },
    {
      name: 'Reclaim Policy',
      doc: [`${volume}Spec`, 'persistentVolumeReclaimPolicy'],
      cell: (object) => textAt(object, 'spec.persistentVolumeReclaimPolicy'),
    },
    { name: 'Status', doc: [`${volume}Status`, 'phase'], cell: phase },
    {
      name: 'Claim',
      doc: [`${volume}Spec`, 'claimRef'],
      cell: (object) => {
        if (valueAt(object, 'spec.claimRef') === undefined) return '';
        return `${textAt(object, 'spec.claimRef.namespace')}/${textAt(object, 'spec.claimRef.name')}`;
      },
    },
    {
      name: 'StorageClass',
      doc: 'StorageClass of the pv',
      cell: (object) => textAt(object, 'spec.storageClassName'),
    },
    {
      name: 'VolumeAttributesClass',
      doc: 'VolumeAttributesClass of the pv',
      cell: (object) => textAt(object, 'spec.volumeAttributesClassName', '<unset>'),
    },
    {
      name: 'Reason',
      doc: [`${volume}Status`, 'reason'],
      cell: (object) => textAt(object, 'status.reason'),
    },
    {
      name: 'VolumeMode',
      doc: [`${volume}Spec`, 'volumeMode'],
      wide: true,
      cell: (object) => textAt(object, 'spec.volumeMode', '<unset>'),
    },
  ]),
  'storage.k8s.io/StorageClass': [
    classNameColumn('storageclass.kubernetes.io/is-default-class'),
    ...storageClassColumns.slice(1),
  ],
};
