import { encodedData, hashObject } from '../hash/index.js';
import type { ConfigurationData } from '../hash/index.js';
import {
  isJsonObject,
  withoutMember,
  withoutNulls,
  PersistentVolumeClaim,
  Secret,
  labelValueOf,
  ownerUidLabel,
  withControllerReference,
} from '../object/index.js';
import type {
  KubernetesObject,
  ObjectMeta,
  UnstructuredObject,
  ObjectReference,
  ResourceType,
} from '../object/index.js';
import type { ApplySettings } from './context.js';
import { builtInType, isKind } from './kind-traits.js';
import {
  appliedHashAnnotation,
  managedByLabel,
  ownerKindAnnotation,
  ownerKindOf,
  ownerNameAnnotation,
  pruneAnnotation,
  scopeLabel,
} from './ownership.js';

/**
 * Policy for a change of an immutable field. `fail`: an error names the field. `recreate`: delete the object
 * and create it again, after a dry run has shown that the new one is valid. `recreateOrphan`: the same, but
 * the pods stay and the new object takes them over.
 */
export type ImmutablePolicy = 'fail' | 'recreate' | 'recreateOrphan';

/** Options of every object of a chain. */
export interface LinkOptions {
  /**
   * The policy for a change of an immutable field.
   * @defaultValue `onImmutable` of the builder, but `fail` for claims, Namespaces and CustomResourceDefinitions
   */
  readonly onImmutable?: ImmutablePolicy | undefined;
  /**
   * Delete the object when it is no longer chained. The annotation `operator-builder.io/prune` stores the value.
   * @defaultValue true, but false for Namespaces and CustomResourceDefinitions, and `pruneClaims` for claims
   */
  readonly prune?: boolean | undefined;
  /** Take over an existing object that has no controller. @defaultValue `adopt` of the builder */
  readonly adopt?: boolean | undefined;
}

/** Options of a PersistentVolumeClaim. */
export interface ClaimOptions extends LinkOptions {
  /**
   * `delete`: garbage collection deletes the claim with its owner. `retain`: the claim stays, and a new owner
   * of the same kind and name takes it over.
   * @defaultValue 'retain'
   */
  readonly whenOwnerDeleted?: 'delete' | 'retain' | undefined;
}

/** An object as the chain requests it. */
export interface WantedObject {
  readonly type: ResourceType<KubernetesObject>;
  readonly ref: ObjectReference;
  readonly object: UnstructuredObject;
  readonly options: ClaimOptions;
}

/** An object in its final form. */
export interface DesiredObject extends WantedObject {
  /** The object to apply if it exists already. */
  readonly object: UnstructuredObject;
  /** The object to create if it is absent; it has `replicas` even if those are external. */
  readonly creation: UnstructuredObject;
  /** The hash of `object`, also stored in its annotations. */
  readonly hash: string;
  /** True if another manager, such as an autoscaler, sets `spec.replicas`. */
  readonly replicasExternal: boolean;
  /** Returns the ConfigMaps and Secrets whose changed data replaces the pods of `live`. @defaultValue none */
  readonly causesOf?: ((live: UnstructuredObject) => readonly ObjectReference[]) | undefined;
  /** Throws if the object must not be written. @defaultValue accepts everything */
  readonly check?: (() => Promise<void>) | undefined;
}

/** A desired object and its live counterpart. */
export interface Pair {
  readonly desired: DesiredObject;
  readonly live: UnstructuredObject;
}

/** Adds the hash to a wanted object. If another manager sets `replicas`, only a creation contains them. */
export function desiredObject<T extends WantedObject & { readonly replicasExternal: boolean }>(
  wanted: T,
): T & DesiredObject {
  const { object, replicasExternal } = wanted;
  return { ...wanted, ...hashed(replicasExternal ? withoutReplicas(object) : object, object) };
}

/** Returns `desired` with `change` applied to its objects, and with the new hash. */
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

/**
 * Returns the object to apply, without hash: with its namespace, owner and labels.
 * @throws AlreadyOwnedError `AlreadyOwned`: the object names another controller.
 */
export function completeObject(settings: ApplySettings, wanted: WantedObject): UnstructuredObject {
  const { object } = wanted;
  const metadata = completeMetadata(settings, wanted);
  // In built-in kinds null means that a field is absent, but an apply of null would own the field.
  const isBuiltIn = builtInType(object) !== undefined;
  const body = isBuiltIn ? (withoutNulls(object) as UnstructuredObject) : object;
  // A controller of the object writes the status. If it is a subresource, the server ignores it in an apply of the
  // object, so the object would always count as changed.
  const complete = encodeSecret({ ...withoutMember(body, 'status'), metadata });
  return retains(wanted) ? complete : withController(settings, wanted, complete);
}

/** Returns true if the object outlives its owner. */
export function retains({ object, options }: WantedObject): boolean {
  if (!isKind(object, PersistentVolumeClaim)) return false;
  return (options.whenOwnerDeleted ?? 'retain') === 'retain';
}

function completeMetadata(settings: ApplySettings, wanted: WantedObject): ObjectMeta {
  const { metadata } = wanted.object;
  const { name, namespace } = wanted.ref;
  const marks = retains(wanted) ? retainedMarks(settings.owner) : noMarks;
  const annotations = {
    ...metadata.annotations,
    ...marks.annotations,
    ...pruneMark(wanted),
  };
  const { finalizers, ownerReferences } = metadata;
  return {
    ...(name !== '' && { name }),
    ...(namespace !== undefined && { namespace }),
    labels: { ...labelsOf(settings, wanted), ...marks.labels },
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(ownerReferences !== undefined && { ownerReferences }),
    ...(finalizers !== undefined && { finalizers }),
    ...(metadata.generateName !== undefined && { generateName: metadata.generateName }),
  };
}

function labelsOf(settings: ApplySettings, { object }: WantedObject): Record<string, string> {
  const { owner, controllerName, labels, scope } = settings;
  return {
    'app.kubernetes.io/name': labelValueOf(owner.kind.toLowerCase()),
    'app.kubernetes.io/instance': labelValueOf(owner.metadata.name ?? ''),
    ...labels,
    ...object.metadata.labels,
    // These labels come last, so that no other label overrides them: pruning selects objects by them.
    [managedByLabel]: labelValueOf(controllerName),
    ...(scope !== undefined && { [scopeLabel]: scope }),
  };
}

interface Marks {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const noMarks: Marks = { labels: {}, annotations: {} };

function retainedMarks(owner: KubernetesObject): Marks {
  const { uid = '', name = '' } = owner.metadata;
  return {
    labels: { [ownerUidLabel]: uid },
    annotations: { [ownerKindAnnotation]: ownerKindOf(owner), [ownerNameAnnotation]: name },
  };
}

// The annotation keeps the setting for the time when the object is no longer desired.
function pruneMark({ options }: WantedObject): Readonly<Record<string, string>> {
  const { prune } = options;
  return prune === undefined ? {} : { [pruneAnnotation]: String(prune) };
}

function withController(
  { owner }: ApplySettings,
  { type }: WantedObject,
  object: UnstructuredObject,
): UnstructuredObject {
  const { namespace = '' } = owner.metadata;
  return withControllerReference(object, owner, {
    ownerNamespaced: namespace !== '',
    objectNamespaced: type.namespaced,
  });
}

/**
 * Encodes `stringData` of a Secret into `data`: the server stores no `stringData`, and would never remove a key that an
 * earlier apply set with it. Returns the object unchanged if a value is not a string, because the server refuses it
 * with a better error.
 */
export function encodeSecret(object: UnstructuredObject): UnstructuredObject {
  const { stringData } = object;
  if (!isKind(object, Secret) || !isJsonObject(stringData)) return object;
  if (!Object.values(stringData).every((text) => typeof text === 'string')) return object;
  const data = encodedData(object as ConfigurationData);
  return { ...withoutMember(object, 'stringData'), data };
}
