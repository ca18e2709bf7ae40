import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../../object/kinds.js';
import type {
  KubernetesObject,
  ObjectMeta,
  OwnerReference,
} from '../../../object/kubernetes-object.js';
import { ownerReferenceTo } from '../../../object/owner-reference.js';
import { podFromTemplate } from '../pod-state.js';
import type { PodTemplate } from '../pod-state.js';

/** The label with the name of a pod's ControllerRevision. */
export const revisionLabel = 'controller-revision-hash';
const podNameLabel = 'statefulset.kubernetes.io/pod-name';
const podIndexLabel = 'apps.kubernetes.io/pod-index';

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number];
type ClaimTemplate = NonNullable<NonNullable<StatefulSet['spec']>['volumeClaimTemplates']>[number];

/** Returns the ordinal of a pod of `set` from its name, or undefined if the name has another form. */
export function ordinalOf(set: StatefulSet, podName: string): number | undefined {
  const parts = /^(.*)-(\d+)$/.exec(podName);
  return parts?.[1] === set.metadata.name ? Number(parts?.[2]) : undefined;
}

/** Returns the name of a pod of `set`. */
export function podNameOf(set: StatefulSet, ordinal: number): string {
  return `${set.metadata.name ?? ''}-${ordinal}`;
}

/** Returns the pod of `ordinal` from `template`, which belongs to a revision of the set. */
export function statefulPod(
  set: StatefulSet,
  ordinal: number,
  made: { readonly template: PodTemplate; readonly revision: string },
): Pod {
  const pod = podFromTemplate(made.template, set);
  const name = podNameOf(set, ordinal);
  const { serviceName } = set.spec ?? {};
  const spec = {
    ...pod.spec,
    hostname: name,
    ...(serviceName !== undefined && { subdomain: serviceName }),
  };
  const labels = { ...pod.metadata.labels, [revisionLabel]: made.revision };
  const metadata = { ...pod.metadata, name, labels };
  return withIdentity(set, { ...pod, metadata, spec } as Pod, ordinal);
}

/** Returns the pod with the labels and volumes of its ordinal. */
export function withIdentity(set: StatefulSet, pod: Pod, ordinal: number): Pod {
  const name = podNameOf(set, ordinal);
  const labels = {
    ...pod.metadata.labels,
    [podNameLabel]: name,
    [podIndexLabel]: String(ordinal),
  };
  const claims = claimTemplates(set).map((template): Volume => ({
    name: template.metadata?.name ?? '',
    persistentVolumeClaim: { claimName: claimNameOf(set, template, ordinal) },
  }));
  const names = new Set(claims.map((volume) => volume.name));
  const others = (pod.spec?.volumes ?? []).filter((volume) => !names.has(volume.name));
  const volumes = [...claims, ...others];
  const spec = { ...pod.spec, ...(volumes.length > 0 && { volumes }) };
  return { ...pod, metadata: { ...pod.metadata, labels }, spec } as Pod;
}

/** Returns true if the pod's name label has the pod's name. */
export function hasIdentity(pod: Pod): boolean {
  return pod.metadata.labels?.[podNameLabel] === pod.metadata.name;
}

/** Returns the claims to create for the pod of `ordinal`. */
export function claimsFor(set: StatefulSet, ordinal: number): PersistentVolumeClaim[] {
  return claimTemplates(set).map((template) => {
    const { labels, annotations } = (template.metadata ?? {}) as ObjectMeta;
    const matchLabels = set.spec?.selector.matchLabels;
    const allLabels = { ...labels, ...matchLabels };
    return {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: claimNameOf(set, template, ordinal),
        namespace: set.metadata.namespace ?? '',
        labels: allLabels,
        ...(annotations && { annotations }),
      },
      ...(template.spec && { spec: template.spec }),
    };
  });
}

function claimTemplates(set: StatefulSet): readonly ClaimTemplate[] {
  return set.spec?.volumeClaimTemplates ?? [];
}

function claimNameOf(set: StatefulSet, template: ClaimTemplate, ordinal: number): string {
  return `${template.metadata?.name ?? ''}-${podNameOf(set, ordinal)}`;
}

/** The possible owners of a claim. `scaledDown` is true if the set no longer wants the pod's ordinal. */
interface ClaimOwners {
  readonly set: StatefulSet;
  /** The pod that mounts the claim. A pod that does not exist yet owns nothing. */
  readonly pod: KubernetesObject;
  readonly scaledDown: boolean;
}

/** `persistentVolumeClaimRetentionPolicy` with its defaults. */
interface RetentionPolicy {
  readonly whenDeleted: string;
  readonly whenScaled: string;
}

/** Returns the retention policy for the claims of a StatefulSet; both fields are `Retain` by default. */
export function retentionPolicyOf(set: StatefulSet): RetentionPolicy {
  const { whenDeleted = 'Retain', whenScaled = 'Retain' } =
    set.spec?.persistentVolumeClaimRetentionPolicy ?? {};
  return { whenDeleted, whenScaled };
}

/**
 * Returns the owner references with which garbage collection carries out the retention policy: the set, the
 * scaled-down pod, or neither. A claim with a reference to an earlier set or pod of the same name stays
 * unchanged, because garbage collection is about to delete it. Another controller of the claim disables the
 * policy.
 */
export function claimOwnerReferences(
  references: readonly OwnerReference[],
  owners: ClaimOwners,
): readonly OwnerReference[] {
  const { set, pod, scaledDown } = owners;
  if (isStale(references, set) || isStale(references, pod)) return references;
  const policy = retentionPolicyOf(set);
  const others = references.filter((reference) => !names(reference, set) && !names(reference, pod));
  const guarded = policy.whenDeleted === 'Delete' || policy.whenScaled === 'Delete';
  if (guarded && others.some(({ controller }) => controller === true)) return others;
  const bySet = policy.whenDeleted === 'Delete' && !(policy.whenScaled === 'Delete' && scaledDown);
  const byPod = policy.whenScaled === 'Delete' && scaledDown;
  const as = { controller: true, blockOwnerDeletion: true };
  return [
    ...others,
    ...(bySet ? [ownerReferenceTo(set, as)] : []),
    ...(byPod ? [ownerReferenceTo(pod, as)] : []),
  ];
}

/**
 * Returns true if a reference names an earlier object with the owner's name. A new pod must wait until such a
 * claim is deleted.
 */
export function isStale(references: readonly OwnerReference[], owner: KubernetesObject): boolean {
  return references.some(
    (reference) => names(reference, owner) && reference.uid !== owner.metadata.uid,
  );
}

function names(
  reference: OwnerReference,
  { apiVersion, kind, metadata }: KubernetesObject,
): boolean {
  const sameKind = reference.apiVersion === apiVersion && reference.kind === kind;
  return sameKind && reference.name === metadata.name;
}
