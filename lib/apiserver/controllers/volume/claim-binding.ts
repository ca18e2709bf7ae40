import type {
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../../object/kinds.js';

/** The finalizer that keeps a claim while a pod uses it. */
export const claimProtection = 'kubernetes.io/pvc-protection';
/** The finalizer that keeps a volume while a claim is bound to it. */
export const volumeProtection = 'kubernetes.io/pv-protection';
/** The annotation of the StorageClass for claims that name none. */
export const defaultClassAnnotation = 'storageclass.kubernetes.io/is-default-class';

const provisionedByAnnotation = 'pv.kubernetes.io/provisioned-by';

/** Returns the volume to create for `claim`. */
export function volumeFor(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
): PersistentVolume {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = claim.metadata;
  const { accessModes, resources, volumeMode } = claim.spec ?? {};
  const storage = resources?.requests?.['storage'] ?? '0';
  const claimRef = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    name,
    namespace,
    uid,
    resourceVersion,
  };
  const volumeName = volumeNameOf(claim);
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: volumeName,
      annotations: { [provisionedByAnnotation]: storageClass.provisioner },
    },
    spec: {
      ...(accessModes && { accessModes }),
      capacity: { storage },
      claimRef,
      hostPath: { path: `/var/simulated-volumes/${volumeName}`, type: 'DirectoryOrCreate' },
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: storageClass.metadata.name ?? '',
      ...(volumeMode !== undefined && { volumeMode }),
    },
  };
}

/** Returns the name of the volume to create for `claim`. */
export function volumeNameOf(claim: PersistentVolumeClaim): string {
  return `pvc-${claim.metadata.uid ?? ''}`;
}

/** Returns the claim with the name of its volume and the annotations of the binding. */
export function boundClaim(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
): PersistentVolumeClaim {
  const volumeName = volume.metadata.name ?? '';
  const provisioner = volume.metadata.annotations?.[provisionedByAnnotation];
  const annotations = {
    ...claim.metadata.annotations,
    ...(provisioner !== undefined && {
      'volume.beta.kubernetes.io/storage-provisioner': provisioner,
      'volume.kubernetes.io/storage-provisioner': provisioner,
    }),
    'pv.kubernetes.io/bind-completed': 'yes',
    ...(claim.spec?.volumeName ? {} : { 'pv.kubernetes.io/bound-by-controller': 'yes' }),
  };
  const metadata = { ...claim.metadata, annotations };
  return { ...claim, metadata, spec: { ...claim.spec, volumeName } };
}

/** Returns the status of a claim that is bound to `volume`. */
export function boundStatus(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
): NonNullable<PersistentVolumeClaim['status']> {
  const { accessModes, capacity } = volume.spec ?? {};
  return {
    ...claim.status,
    phase: 'Bound',
    ...(accessModes && { accessModes }),
    ...(capacity && { capacity }),
  };
}

/** Returns true if `volume` is reserved for this claim. */
export function isVolumeOf(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { claimRef } = volume.spec ?? {};
  const { name, namespace, uid } = claim.metadata;
  const sameName = claimRef?.name === name && claimRef?.namespace === namespace;
  return sameName && (claimRef?.uid ?? uid) === uid;
}
