import { hashObject } from '../hash/hash-object.js';
import { isJsonObject, withoutMember } from '../object/json.js';
import type { KubernetesObject, UnstructuredObject } from '../object/kubernetes-object.js';
import type { ObjectReference } from '../object/object-reference.js';
import type { ResourceType } from '../object/resource-type.js';
import { appliedHashAnnotation } from './marks.js';

/**
 * What to do when an immutable field has to change. `fail`: an error names the field. `recreate`:
 * delete the object and make it again, after a dry run has shown that the new one is valid.
 * `recreateOrphan`: the same, but the pods stay and are taken over.
 */
export type ImmutablePolicy = 'fail' | 'recreate' | 'recreateOrphan';

/** What every object of a chain can be given. */
export interface LinkOptions {
  /** @defaultValue `onImmutable` of the builder; for PersistentVolumeClaims always `fail` */
  readonly onImmutable?: ImmutablePolicy | undefined;
  /**
   * Delete the object once it is no longer chained. Remembered in the annotation
   * `operator-builder.io/prune`. @defaultValue true, but false for PersistentVolumeClaims
   */
  readonly prune?: boolean | undefined;
  /** Take the object over when it exists and nobody controls it. @defaultValue `adopt` of the builder */
  readonly adopt?: boolean | undefined;
}

/** What only a PersistentVolumeClaim can be given. */
export interface ClaimOptions extends LinkOptions {
  /**
   * `delete`: garbage collection takes the claim with its owner. `retain`: it stays, and a new owner
   * of that kind and name takes it over. @defaultValue 'retain'
   */
  readonly whenOwnerDeleted?: 'delete' | 'retain' | undefined;
}

/** An object that is wanted. */
export interface WantedObject {
  readonly type: ResourceType<KubernetesObject>;
  readonly ref: ObjectReference;
  readonly object: UnstructuredObject;
  readonly options: ClaimOptions;
}

/** An object in its final form. */
export interface DesiredObject extends WantedObject {
  /** What is applied to an object that exists. */
  readonly object: UnstructuredObject;
  /** What is applied where there is none: with `replicas`, also where they are somebody else's. */
  readonly creation: UnstructuredObject;
  /** Its hash, which stands in its annotations too. */
  readonly hash: string;
  /** `spec.replicas` is somebody else's. */
  readonly replicasExternal: boolean;
  /** The ConfigMaps and Secrets whose changed data replaces the pods of `live`. @defaultValue none */
  readonly causesOf?: ((live: UnstructuredObject) => readonly ObjectReference[]) | undefined;
  /** Refuses the object before it is written. @defaultValue refuses nothing */
  readonly check?: (() => Promise<void>) | undefined;
}

/** A desired object and the one that is there. */
export interface Pair {
  readonly desired: DesiredObject;
  readonly live: UnstructuredObject;
}

/** Completes a wanted object with its hash. Where `replicas` are external, only its creation has them. */
export function desiredObject<T extends WantedObject & { readonly replicasExternal: boolean }>(
  wanted: T,
): T & DesiredObject {
  const { object, replicasExternal } = wanted;
  return { ...wanted, ...hashed(replicasExternal ? withoutReplicas(object) : object, object) };
}

/** `desired` with `change` made to what is applied, and the hash of the result. */
export function changedDesire(
  desired: DesiredObject,
  change: (object: UnstructuredObject) => UnstructuredObject,
): DesiredObject {
  const { object, creation } = desired;
  return { ...desired, ...hashed(change(withoutHash(object)), change(withoutHash(creation))) };
}

function hashed(
  applied: UnstructuredObject,
  created: UnstructuredObject,
): Pick<DesiredObject, 'object' | 'creation' | 'hash'> {
  const hash = hashObject(applied);
  return { object: withHash(applied, hash), creation: withHash(created, hash), hash };
}

function withoutReplicas(object: UnstructuredObject): UnstructuredObject {
  if (!isJsonObject(object['spec'])) return object;
  return { ...object, spec: withoutMember(object['spec'], 'replicas') };
}

function withHash(object: UnstructuredObject, hash: string): UnstructuredObject {
  const annotations = { ...object.metadata.annotations, [appliedHashAnnotation]: hash };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function withoutHash(object: UnstructuredObject): UnstructuredObject {
  const { annotations = {}, ...metadata } = object.metadata;
  const own = withoutMember(annotations, appliedHashAnnotation);
  const some = Object.keys(own).length > 0;
  return { ...object, metadata: { ...metadata, ...(some && { annotations: own }) } };
}
