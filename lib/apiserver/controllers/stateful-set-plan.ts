import type {
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
  KubernetesObject,
  ObjectMeta,
  OwnerReference,
} from '../../object/index.js';
import { ownerReferenceTo } from '../../object/index.js';
import { podFromTemplate } from './pod-state.js';
import type { PodTemplate } from './pod-state.js';

/** A pod of a StatefulSet, as {@link statefulSetPlan} reads it. */
export interface StatefulPodView {
  readonly ordinal: number;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  /** True if the pod has been ready for at least `minReadySeconds`. */
  readonly available: boolean;
  readonly terminating: boolean;
  /** The name of its ControllerRevision. */
  readonly revision: string;
}

/** A StatefulSet, as {@link statefulSetPlan} reads it. */
export interface StatefulSetView {
  readonly replicas: number;
  /** The ordinal of the first pod. */
  readonly start: number;
  readonly policy: 'OrderedReady' | 'Parallel';
  readonly strategy: 'RollingUpdate' | 'OnDelete';
  /**
   * The number of pods, from the first, that keep their revision. Undefined: the strategy has no
   * `rollingUpdate`.
   */
  readonly partition: number | undefined;
  readonly currentRevision: string;
  readonly updateRevision: string;
  /** `status.currentReplicas`. */
  readonly currentReplicas: number;
}

/**
 * An action of {@link statefulSetPlan}. If it fails, the controller skips the actions after it until the next
 * reconcile.
 */
export type StatefulSetAction =
  | { readonly type: 'createPod'; readonly ordinal: number; readonly revision: string }
  | { readonly type: 'createClaims'; readonly ordinal: number }
  | { readonly type: 'deletePod'; readonly ordinal: number; readonly why: DeletionReason }
  /** Correct the labels of a pod that runs, and the owners of its claims. */
  | { readonly type: 'checkPod'; readonly ordinal: number }
  /** Correct the owners of the claims of a pod that is scaled down. */
  | { readonly type: 'checkClaims'; readonly ordinal: number };

type DeletionReason = 'finished' | 'scaledDown' | 'updated';

/**
 * Plans the next actions of a StatefulSet.
 *
 * With `OrderedReady`, pods are created one by one from the lowest ordinal; each waits for all pods before
 * it. Pods are deleted one by one from the highest ordinal. An update begins only when every pod is
 * available. So a pod that never becomes ready blocks the set: the controller does not delete that pod, even
 * after the template is repaired.
 *
 * With `Parallel`, pods are created and deleted without waiting, but updates still go one by one.
 */
export function statefulSetPlan(
  set: StatefulSetView,
  pods: readonly StatefulPodView[],
): StatefulSetAction[] {
  const monotonic = set.policy === 'OrderedReady';
  const byOrdinal = new Map(pods.map((pod) => [pod.ordinal, pod]));
  const replicas = ordinalsOf(set);
  const growth = runAll(replicas, monotonic, (ordinal) => keepReplica(set, byOrdinal, ordinal));
  if (growth.blocked) return [...growth.actions];
  const condemned = condemnedPods(set, pods);
  const claims = condemned.map(({ ordinal }) => ({ type: 'checkClaims', ordinal }) as const);
  const unhealthy = firstUnavailable(set, byOrdinal, condemned);
  const shrink = runAll(condemned, monotonic, (pod) => condemnPod(pod, monotonic, unhealthy));
  const actions = [...growth.actions, ...claims, ...shrink.actions];
  if (shrink.blocked || set.strategy === 'OnDelete') return actions;
  // Pods that are about to be created are not available: they block the update too.
  return [...actions, ...updateStep(set, byOrdinal)];
}

export function revisionForNewPod(set: StatefulSetView, ordinal: number): string {
  const { partition, strategy, start, currentReplicas } = set;
  const kept =
    partition === undefined
      ? strategy === 'RollingUpdate' && ordinal < start + currentReplicas
      : ordinal < start + partition;
  return kept ? set.currentRevision : set.updateRevision;
}

/** The actions for one pod; `blocked` if later pods must wait. */
interface Step {
  readonly actions: readonly StatefulSetAction[];
  readonly blocked: boolean;
}

const go: Step = { actions: [], blocked: false };
const wait: Step = { actions: [], blocked: true };

function keepReplica(
  set: StatefulSetView,
  pods: ReadonlyMap<number, StatefulPodView>,
  ordinal: number,
): Step {
  const monotonic = set.policy === 'OrderedReady';
  const pod = pods.get(ordinal);
  if (pod === undefined) {
    const revision = revisionForNewPod(set, ordinal);
    return { actions: [{ type: 'createPod', ordinal, revision }], blocked: monotonic };
  }
  if (pod.phase === 'Failed' || pod.phase === 'Succeeded') {
    return pod.terminating
      ? wait
      : { actions: [{ type: 'deletePod', ordinal, why: 'finished' }], blocked: true };
  }
  const claims: StatefulSetAction[] =
    pod.phase === 'Pending' ? [{ type: 'createClaims', ordinal }] : [];
  const up = !pod.terminating && pod.phase === 'Running' && pod.available;
  if (monotonic && !up) return { actions: claims, blocked: true };
  return { actions: [...claims, { type: 'checkPod', ordinal }], blocked: false };
}

function condemnPod(
  pod: StatefulPodView,
  monotonic: boolean,
  unhealthy: StatefulPodView | undefined,
): Step {
  const { ordinal } = pod;
  if (pod.terminating) return monotonic ? wait : go;
  const healthy = pod.phase === 'Running' && pod.available;
  if (monotonic && !healthy && pod !== unhealthy) return wait;
  return { actions: [{ type: 'deletePod', ordinal, why: 'scaledDown' }], blocked: true };
}

/** Deletes the pod with the highest ordinal that does not have the newest revision, one pod at a time. */
function updateStep(
  set: StatefulSetView,
  pods: ReadonlyMap<number, StatefulPodView>,
): StatefulSetAction[] {
  const { replicas, start, partition = 0, updateRevision } = set;
  for (let index = replicas - 1; index >= partition; index--) {
    const ordinal = start + index;
    const pod = pods.get(ordinal);
    if (pod === undefined) return [];
    if (pod.revision !== updateRevision && !pod.terminating) {
      return [{ type: 'deletePod', ordinal, why: 'updated' }];
    }
    if (pod.terminating || !pod.available) return [];
  }
  return [];
}

function ordinalsOf({ start, replicas }: StatefulSetView): number[] {
  return Array.from({ length: replicas }, (_, index) => start + index);
}

/** Returns the pods outside the wanted ordinals, the highest first. */
function condemnedPods(
  { start, replicas }: StatefulSetView,
  pods: readonly StatefulPodView[],
): StatefulPodView[] {
  return pods
    .filter(({ ordinal }) => ordinal < start || ordinal >= start + replicas)
    .toSorted((a, b) => b.ordinal - a.ordinal);
}

function firstUnavailable(
  set: StatefulSetView,
  pods: ReadonlyMap<number, StatefulPodView>,
  condemned: readonly StatefulPodView[],
): StatefulPodView | undefined {
  const wanted = ordinalsOf(set).flatMap((ordinal) => pods.get(ordinal) ?? []);
  const inOrder = [...wanted, ...condemned.toReversed()];
  return inOrder.find((pod) => !pod.available || pod.terminating);
}

/**
 * Collects the actions of all items in order. If `monotonic` (`OrderedReady`), stops after the first item that is
 * blocked.
 */
function runAll<T>(items: readonly T[], monotonic: boolean, stepOf: (item: T) => Step): Step {
  const actions: StatefulSetAction[] = [];
  for (const item of items) {
    const step = stepOf(item);
    actions.push(...step.actions);
    if (step.blocked && monotonic) return { actions, blocked: true };
  }
  return { actions, blocked: false };
}

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

export function podNameOf(set: StatefulSet, ordinal: number): string {
  return `${set.metadata.name ?? ''}-${ordinal}`;
}

/** Returns the pod of `ordinal`, made from the template of a revision of the set. */
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

/** The possible owners of a claim. `scaledDown` is true if the set no longer includes the pod's ordinal. */
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
 * Returns the owner references with which garbage collection carries out the retention policy: the set, the scaled-down
 * pod, or neither. A claim with a reference to an earlier set or pod of the same name stays unchanged, because garbage
 * collection is about to delete it. If another controller owns the claim, the policy does not apply.
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
