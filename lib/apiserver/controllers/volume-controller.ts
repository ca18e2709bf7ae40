import {
  compareQuantities,
  formatTime,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
  keyOf,
  withoutMembers,
} from '../../object/index.js';
import type { ObjectKey } from '../../object/index.js';
import { manager } from './controller-host.js';
import type { ControllerHost, ObjectWriter } from './controller-host.js';
import { isPodFinished, isPodTerminating } from './pod-state.js';
import type { WorkQueue } from './work-queue.js';

/** Finds or creates a volume for each claim, grows it on request, and deletes unused volumes. */
export class VolumeController {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #claims: WorkQueue<ObjectKey>;
  readonly #volumes: WorkQueue<ObjectKey>;

  constructor(host: ControllerHost) {
    this.#host = host;
    this.#writer = host.writer(manager);
    const onClaim = (key: ObjectKey): Promise<void> => this.#reconcileClaim(key);
    const onVolume = (key: ObjectKey): Promise<void> => this.#reconcileVolume(key);
    this.#claims = host.objectQueue(PersistentVolumeClaim, 'volume-claims', onClaim);
    this.#volumes = host.objectQueue(PersistentVolume, 'volumes', onVolume);
    host.watch(PersistentVolumeClaim, ({ object }) => {
      const name = object.spec?.volumeName;
      if (name) this.#volumes.add({ name });
    });
    host.watch(PersistentVolume, ({ object }) => {
      const { name, namespace } = object.spec?.claimRef ?? {};
      if (name !== undefined) this.#claims.add({ namespace, name });
      else if (isFree(object)) this.#addWaitingClaims();
    });
    host.watch(Pod, ({ type, object }) => {
      // A claim may wait for its first pod. A pod that is deleted or finished no longer uses its claims.
      if (type !== 'MODIFIED' || isPodFinished(object)) this.#addClaimsOf(object);
    });
    host.watch(StorageClass, () => this.#addWaitingClaims());
  }

  /** Looks for a volume again, for each claim that may wait for a volume. */
  #addWaitingClaims(): void {
    for (const claim of this.#host.list(PersistentVolumeClaim)) {
      if (claim.status?.phase !== 'Bound') this.#claims.add(keyOf(claim));
    }
  }

  #addClaimsOf(pod: Pod): void {
    const { namespace } = pod.metadata;
    for (const name of claimNamesOf(pod)) this.#claims.add({ namespace, name });
  }

  async #reconcileClaim(key: ObjectKey): Promise<void> {
    const claim = this.#host.get(PersistentVolumeClaim, key);
    if (claim === undefined) return;
    if (claim.metadata.deletionTimestamp !== undefined) await this.#unprotectClaim(claim);
    else await this.#bind(claim);
  }

  async #bind(claim: PersistentVolumeClaim): Promise<void> {
    const volume = await this.#volumeFor(claim);
    const completed = claim.metadata.annotations?.['pv.kubernetes.io/bind-completed'] === 'yes';
    if (volume === undefined) {
      const kept = withoutMembers(claim.status ?? {}, 'accessModes', 'capacity');
      if (completed) await this.#writer.updateStatus(claim, { ...kept, phase: 'Lost' });
      return;
    }
    const name = volume.metadata.name ?? '';
    const grown = await this.#grow(claim, volume);
    const bound =
      claim.spec?.volumeName === name && completed
        ? claim
        : await this.#writer.update(boundClaim(claim, volume));
    await this.#writer.updateStatus(bound, boundStatus(bound, grown));
  }

  /**
   * Returns the volume of a claim: one that the claim names, else one that is reserved for it, else one that fits, else
   * a new one. Undefined if no volume is available yet.
   */
  async #volumeFor(claim: PersistentVolumeClaim): Promise<PersistentVolume | undefined> {
    const { volumeName } = claim.spec ?? {};
    const name = volumeName || volumeNameOf(claim);
    const named = this.#host.get(PersistentVolume, { name });
    if (named !== undefined || volumeName) return named && (await this.#reserve(named, claim));
    const volumes = this.#host.list(PersistentVolume);
    const reserved = volumes.find((volume) => isReservedFor(volume, claim));
    if (reserved !== undefined) return reserved;
    const storageClass = this.#classOf(claim);
    if (this.#waitsForPod(claim, storageClass)) return undefined;
    const fitting = this.#fittingVolume(claim, volumes, storageClass);
    if (fitting !== undefined) return await this.#reserve(fitting, claim);
    if (storageClass === undefined || storageClass.provisioner === noProvisioner) return undefined;
    return await this.#writer.create(volumeFor(claim, storageClass));
  }

  /** Reserves a volume for a claim. @returns undefined if the volume is reserved for another claim */
  async #reserve(
    volume: PersistentVolume,
    claim: PersistentVolumeClaim,
  ): Promise<PersistentVolume | undefined> {
    if (volume.spec?.claimRef !== undefined) return isVolumeOf(volume, claim) ? volume : undefined;
    const { name = '', namespace = '', uid = '' } = claim.metadata;
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid };
    return await this.#writer.update({ ...volume, spec: { ...volume.spec, claimRef } });
  }

  /** Returns the smallest unclaimed volume that satisfies the claim. */
  #fittingVolume(
    claim: PersistentVolumeClaim,
    volumes: readonly PersistentVolume[],
    storageClass: StorageClass | undefined,
  ): PersistentVolume | undefined {
    const { storageClassName = '', selector } = claim.spec ?? {};
    const className = storageClass?.metadata.name ?? storageClassName;
    return volumes
      .filter(
        (volume) =>
          (volume.spec?.storageClassName ?? '') === className &&
          isFree(volume) &&
          satisfies(volume, claim) &&
          (selector === undefined || this.#host.selects(selector, volume.metadata.labels)),
      )
      .toSorted((a, b) => compareQuantities(capacityOf(a), capacityOf(b)))[0];
  }

  /**
   * Returns true if the StorageClass waits for a pod that uses the claim (`WaitForFirstConsumer`), and no such pod
   * exists.
   */
  #waitsForPod(claim: PersistentVolumeClaim, storageClass: StorageClass | undefined): boolean {
    if (storageClass?.volumeBindingMode !== 'WaitForFirstConsumer') return false;
    return !this.#podsOf(claim).some((pod) => !isPodTerminating(pod));
  }

  /** Returns the unfinished pods that use a claim. */
  #podsOf({ metadata: { namespace, name = '' } }: PersistentVolumeClaim): Pod[] {
    return this.#host
      .list(Pod, namespace)
      .filter((pod) => !isPodFinished(pod) && claimNamesOf(pod).includes(name));
  }

  #classOf(claim: PersistentVolumeClaim): StorageClass | undefined {
    const name = claim.spec?.storageClassName;
    if (name !== undefined) return this.#host.get(StorageClass, { name });
    return this.#host
      .list(StorageClass)
      .find(({ metadata }) => metadata.annotations?.[defaultClassAnnotation] === 'true');
  }

  /**
   * Grows a volume to the request of its claim. The server has checked that the StorageClass allows growth
   * and that no claim shrinks.
   */
  async #grow(claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<PersistentVolume> {
    const wanted = claim.spec?.resources?.requests?.['storage'];
    const { capacity } = volume.spec ?? {};
    const bound = claim.status?.phase === 'Bound';
    if (!bound || wanted === undefined || capacity?.['storage'] === wanted) return volume;
    // A volume that was bound by hand keeps its capacity.
    if (claim.spec?.volumeName !== volumeNameOf(claim)) return volume;
    const spec = { ...volume.spec, capacity: { ...capacity, storage: wanted } };
    return await this.#writer.update({ ...volume, spec });
  }

  async #unprotectClaim(claim: PersistentVolumeClaim): Promise<void> {
    // A pod without a node does not start while its claim is being deleted: the pod and the claim would wait for each
    // other.
    if (this.#podsOf(claim).some(({ spec }) => spec?.nodeName)) return;
    await this.#writer.removeFinalizer(claim, claimProtection);
  }

  async #reconcileVolume(key: ObjectKey): Promise<void> {
    const volume = this.#host.get(PersistentVolume, key);
    if (volume === undefined) return;
    const { claimRef } = volume.spec ?? {};
    const claim =
      claimRef?.name === undefined
        ? undefined
        : this.#host.get(PersistentVolumeClaim, {
            namespace: claimRef.namespace,
            name: claimRef.name,
          });
    const held = claim !== undefined && isVolumeOf(volume, claim);
    if (held) await this.#showPhase(volume, 'Bound');
    else if (volume.metadata.deletionTimestamp !== undefined) {
      await this.#writer.removeFinalizer(volume, volumeProtection);
    } else if (claimRef?.uid === undefined) await this.#showPhase(volume, 'Available');
    else if (volume.spec?.persistentVolumeReclaimPolicy === 'Delete') {
      await this.#writer.delete(PersistentVolume, volume);
    } else await this.#showPhase(volume, 'Released');
  }

  async #showPhase(volume: PersistentVolume, phase: string): Promise<void> {
    if (volume.status?.phase === phase) return;
    const lastPhaseTransitionTime = formatTime(this.#host.now());
    await this.#writer.updateStatus(volume, { ...volume.status, phase, lastPhaseTransitionTime });
  }
}

function isReservedFor(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return volume.spec?.claimRef !== undefined && isVolumeOf(volume, claim);
}

/** Returns true if a volume is available to any claim. */
function isFree({ metadata, spec, status }: PersistentVolume): boolean {
  const isAvailable = status?.phase === 'Available' && metadata.deletionTimestamp === undefined;
  return isAvailable && spec?.claimRef === undefined;
}

/** Returns true if a volume meets the requirements of a claim. */
function satisfies(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { accessModes = [], volumeMode = 'Filesystem' } = volume.spec ?? {};
  const { accessModes: wanted = [], volumeMode: wantedMode = 'Filesystem' } = claim.spec ?? {};
  const storage = claim.spec?.resources?.requests?.['storage'] ?? '0';
  return (
    volumeMode === wantedMode &&
    wanted.every((mode) => accessModes.includes(mode)) &&
    compareQuantities(capacityOf(volume), storage) >= 0
  );
}

function capacityOf({ spec }: PersistentVolume): string {
  return spec?.capacity?.['storage'] ?? '0';
}

function claimNamesOf(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap(
    ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [],
  );
}

/** The finalizer that keeps a claim while a pod uses it. */
const claimProtection = 'kubernetes.io/pvc-protection';
/** The finalizer that keeps a volume while a claim is bound to it. */
const volumeProtection = 'kubernetes.io/pv-protection';
/** The annotation of the StorageClass for claims that name none. */
export const defaultClassAnnotation = 'storageclass.kubernetes.io/is-default-class';

/** The provisioner of classes whose volumes are created by hand. */
const noProvisioner = 'kubernetes.io/no-provisioner';
const provisionedByAnnotation = 'pv.kubernetes.io/provisioned-by';

/** Returns the volume to create for `claim`. */
function volumeFor(claim: PersistentVolumeClaim, storageClass: StorageClass): PersistentVolume {
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
function volumeNameOf(claim: PersistentVolumeClaim): string {
  return `pvc-${claim.metadata.uid ?? ''}`;
}

/** Returns the claim with the name of its volume and the annotations of the binding. */
function boundClaim(claim: PersistentVolumeClaim, volume: PersistentVolume): PersistentVolumeClaim {
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

function boundStatus(
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
function isVolumeOf(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { claimRef } = volume.spec ?? {};
  const { name, namespace, uid } = claim.metadata;
  const sameName = claimRef?.name === name && claimRef?.namespace === namespace;
  return sameName && (claimRef?.uid ?? uid) === uid;
}
