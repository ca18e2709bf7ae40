import type {
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../../object/kinds.js';

/** Keeps a claim as long as a pod uses it. */
export const claimProtection = 'kubernetes.io/pvc-protection';
/** Keeps a volume as long as a claim is bound to it. */
export const volumeProtection = 'kubernetes.io/pv-protection';
/** Marks the class that claims without one get. */
export const defaultClassAnnotation = 'storageclass.kubernetes.io/is-default-class';

const provisionedByAnnotation = 'pv.kubernetes.io/provisioned-by';

/** The volume that is made for `claim`. */
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

/** The name of the volume that is made for `claim`. */
export function volumeNameOf(claim: PersistentVolumeClaim): string {
  return `pvc-${claim.metadata.uid ?? ''}`;
}

/** The claim with the name of its volume, as the binding leaves it. */
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

/** The status of a claim that is bound to `volume`. */
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

/** Whether `volume` is kept for this very claim. */
export function isVolumeOf(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { claimRef } = volume.spec ?? {};
  const { name, namespace, uid } = claim.metadata;
  const sameName = claimRef?.name === name && claimRef?.namespace === namespace;
  return sameName && (claimRef?.uid ?? uid) === uid;
}
