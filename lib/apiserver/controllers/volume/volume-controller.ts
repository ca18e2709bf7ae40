import type { ObjectKey } from '../../../object/kubernetes-object.js';
import {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../../object/kinds.js';
import { keyOf } from '../../../object/object-key.js';
import type { ControllerHost } from '../controller-host.js';
import { manager } from '../manager-name.js';
import type { ObjectWriter } from '../object-writer.js';
import { isPodFinished } from '../pod-state.js';
import { timestamp } from '../timestamp.js';
import type { WorkQueue } from '../work-queue.js';
import {
  boundClaim,
  boundStatus,
  claimProtection,
  defaultClassAnnotation,
  isVolumeOf,
  volumeFor,
  volumeNameOf,
  volumeProtection,
} from './claim-binding.js';

/** Creates a volume for each claim, grows it on request, and deletes unused volumes. */
export function startVolumeController(host: ControllerHost): void {
  new VolumeController(host).start();
}

class VolumeController {
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
  }

  start(): void {
    this.#host.watch(PersistentVolumeClaim, ({ object }) => {
      const name = object.spec?.volumeName;
      if (name) this.#volumes.add({ name });
    });
    this.#host.watch(PersistentVolume, ({ object }) => {
      const { name, namespace } = object.spec?.claimRef ?? {};
      if (name !== undefined) this.#claims.add({ namespace, name });
    });
    this.#host.watch(Pod, ({ type, object }) => {
      // A pod that is deleted or finished no longer uses its claims.
      if (type === 'DELETED' || isPodFinished(object)) this.#addClaimsOf(object);
    });
    this.#host.watch(StorageClass, () => {
      for (const claim of this.#host.list(PersistentVolumeClaim)) this.#claims.add(keyOf(claim));
    });
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
    if (volume === undefined) return;
    const name = volume.metadata.name ?? '';
    const grown = await this.#grow(claim, volume);
    const completed = claim.metadata.annotations?.['pv.kubernetes.io/bind-completed'] === 'yes';
    const bound =
      claim.spec?.volumeName === name && completed
        ? claim
        : await this.#writer.update(boundClaim(claim, volume));
    await this.#writer.updateStatus(bound, boundStatus(bound, grown));
  }

  /**
   * Returns the volume that the claim names or that is reserved for it, or creates one. Undefined if no
   * volume is available yet.
   */
  async #volumeFor(claim: PersistentVolumeClaim): Promise<PersistentVolume | undefined> {
    const name = claim.spec?.volumeName || volumeNameOf(claim);
    const volume =
      this.#host.get(PersistentVolume, { name }) ??
      this.#host.list(PersistentVolume).find((other) => isReservedFor(other, claim));
    if (volume !== undefined) {
      if (volume.spec?.claimRef !== undefined)
        return isVolumeOf(volume, claim) ? volume : undefined;
      const { name: claimName = '', namespace = '', uid = '' } = claim.metadata;
      const kind = 'PersistentVolumeClaim';
      const claimRef = { apiVersion: 'v1', kind, name: claimName, namespace, uid };
      return await this.#writer.update({ ...volume, spec: { ...volume.spec, claimRef } });
    }
    const storageClass = this.#classOf(claim);
    if (storageClass === undefined || claim.spec?.volumeName) return undefined;
    return await this.#writer.create(volumeFor(claim, storageClass));
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
    const { namespace, name = '', finalizers = [] } = claim.metadata;
    if (!finalizers.includes(claimProtection)) return;
    const inUse = this.#host
      .list(Pod, namespace)
      .some((pod) => !isPodFinished(pod) && claimNamesOf(pod).includes(name));
    if (inUse) return;
    const kept = finalizers.filter((finalizer) => finalizer !== claimProtection);
    await this.#writer.updateMetadata(claim, { finalizers: kept });
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
    else if (volume.metadata.deletionTimestamp !== undefined) await this.#unprotectVolume(volume);
    else if (claimRef?.uid === undefined) await this.#showPhase(volume, 'Available');
    else if (volume.spec?.persistentVolumeReclaimPolicy === 'Delete') {
      await this.#writer.delete(PersistentVolume, volume);
    } else await this.#showPhase(volume, 'Released');
  }

  async #showPhase(volume: PersistentVolume, phase: string): Promise<void> {
    if (volume.status?.phase === phase) return;
    const lastPhaseTransitionTime = timestamp(this.#host.now());
    await this.#writer.updateStatus(volume, { ...volume.status, phase, lastPhaseTransitionTime });
  }

  async #unprotectVolume(volume: PersistentVolume): Promise<void> {
    const { finalizers = [] } = volume.metadata;
    if (!finalizers.includes(volumeProtection)) return;
    const kept = finalizers.filter((finalizer) => finalizer !== volumeProtection);
    await this.#writer.updateMetadata(volume, { finalizers: kept });
  }
}

function isReservedFor(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return volume.spec?.claimRef !== undefined && isVolumeOf(volume, claim);
}

function claimNamesOf(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap(
    ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [],
  );
}
