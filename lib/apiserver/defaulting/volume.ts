import type {
  V1DownwardAPIVolumeFile,
  V1PersistentVolumeClaimSpec,
  V1ProjectedVolumeSource,
  V1Volume,
} from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import { imageTag } from './image-tag.js';

const readableByAll = 0o644;

/** Fills in the defaults of a pod's volume, in place. A volume without a source becomes an emptyDir. */
export function defaultVolume(volume: Wire<V1Volume>): void {
  if (Object.keys(volume).every((member) => member === 'name')) volume.emptyDir = {};
  const { configMap, secret, downwardAPI, projected, hostPath, ephemeral, image } = volume;
  if (configMap !== undefined) configMap.defaultMode ??= readableByAll;
  if (secret !== undefined) secret.defaultMode ??= readableByAll;
  if (hostPath !== undefined) hostPath.type ??= '';
  if (downwardAPI !== undefined) {
    downwardAPI.defaultMode ??= readableByAll;
    downwardAPI.items?.forEach(defaultFieldRef);
  }
  if (projected !== undefined) defaultProjected(projected);
  if (ephemeral?.volumeClaimTemplate !== undefined) {
    defaultClaimSpec(ephemeral.volumeClaimTemplate.spec);
  }
  if (image !== undefined) {
    image.pullPolicy ??= imageTag(image.reference ?? '') === 'latest' ? 'Always' : 'IfNotPresent';
  }
  defaultBlockSources(volume);
}

function defaultBlockSources({ iscsi, rbd, azureDisk, scaleIO }: Wire<V1Volume>): void {
  if (iscsi !== undefined) iscsi.iscsiInterface ??= 'default';
  if (rbd !== undefined) {
    rbd.pool ??= 'rbd';
    rbd.user ??= 'admin';
    rbd.keyring ??= '/etc/ceph/keyring';
  }
  if (azureDisk !== undefined) {
    azureDisk.cachingMode ??= 'ReadWrite';
    azureDisk.fsType ??= 'ext4';
    azureDisk.readOnly ??= false;
    azureDisk.kind ??= 'Shared';
  }
  if (scaleIO !== undefined) {
    scaleIO.storageMode ??= 'ThinProvisioned';
    scaleIO.fsType ??= 'xfs';
  }
}

function defaultProjected(projected: Wire<V1ProjectedVolumeSource>): void {
  projected.defaultMode ??= readableByAll;
  for (const { downwardAPI, serviceAccountToken } of projected.sources ?? []) {
    downwardAPI?.items?.forEach(defaultFieldRef);
    if (serviceAccountToken !== undefined) serviceAccountToken.expirationSeconds ??= 3600;
  }
}

function defaultFieldRef({ fieldRef }: Wire<V1DownwardAPIVolumeFile>): void {
  if (fieldRef !== undefined) fieldRef.apiVersion ??= 'v1';
}

/** Fills in the defaults of a claim's spec, in place. */
export function defaultClaimSpec(spec: Wire<V1PersistentVolumeClaimSpec>): void {
  spec.volumeMode ??= 'Filesystem';
}
