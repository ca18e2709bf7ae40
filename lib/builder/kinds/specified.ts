import type { ClaimOptions, Lenient } from '../../apply/index.js';
import {
  HorizontalPodAutoscaler,
  Ingress,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Service,
  ServiceAccount,
} from '../../object/index.js';
import type { KubernetesObject, ResourceType } from '../../object/index.js';
import type { ChainedLink, ObjectOptions } from '../link.js';
import { objectLink } from './object-link.js';

/** The `spec` of objects of type `T`, as users may write it. */
export type SpecOf<T extends { spec?: unknown }> = Lenient<NonNullable<T['spec']>>;

/** Options of {@link BuilderChain.service | Builder.service}. */
export interface ServiceOptions<Name extends string = string> extends ObjectOptions<Name> {
  /**
   * Without a `selector`, the Service selects the pods of `workload`. An empty selector (`{}`) selects no
   * pods, for endpoints that another component manages.
   */
  readonly spec: SpecOf<Service>;
  /**
   * Name of the workload whose pods are selected. The link of the workload may come later in the chain.
   * @defaultValue the name of this object
   */
  readonly workload?: string | undefined;
}

/** `Spec` with an optional `Field`, which can be derived from `workload`. */
export type Fillable<Spec, Field extends keyof Spec> = Omit<Spec, Field> & {
  readonly [Key in Field]?: Spec[Key] | undefined;
};

/** Options of {@link BuilderChain.persistentVolumeClaim | Builder.persistentVolumeClaim}. */
export interface PersistentVolumeClaimOptions<Name extends string = string>
  extends ObjectOptions<Name>, ClaimOptions {
  /** The requested storage may grow later; all other fields are immutable. */
  readonly spec: SpecOf<PersistentVolumeClaim>;
}

/** Options of {@link BuilderChain.networkPolicy | Builder.networkPolicy}. */
export interface NetworkPolicyOptions extends ObjectOptions {
  /**
   * Without a `podSelector`, the policy selects the pods of `workload`; an empty `podSelector` selects all
   * pods.
   */
  readonly spec: Fillable<SpecOf<NetworkPolicy>, 'podSelector'>;
  /**
   * Name of the workload whose pods are selected. The link of the workload may come later in the chain.
   * @defaultValue the name of this object
   */
  readonly workload?: string | undefined;
}

/** Options of {@link BuilderChain.ingress | Builder.ingress}. */
export interface IngressOptions extends ObjectOptions {
  readonly spec: SpecOf<Ingress>;
}

/** Options of {@link BuilderChain.podDisruptionBudget | Builder.podDisruptionBudget}. */
export interface PodDisruptionBudgetOptions extends ObjectOptions {
  /** Without a `selector`, the budget selects the pods of `workload`. */
  readonly spec: SpecOf<PodDisruptionBudget>;
  /**
   * Name of the workload whose pods are selected. The link of the workload may come later in the chain.
   * @defaultValue the name of this object
   */
  readonly workload?: string | undefined;
}

/** Options of {@link BuilderChain.horizontalPodAutoscaler | Builder.horizontalPodAutoscaler}. */
export interface HorizontalPodAutoscalerOptions extends ObjectOptions {
  /** The builder sets `replicas` of the scaled workload only when it creates the workload. */
  readonly spec: Fillable<SpecOf<HorizontalPodAutoscaler>, 'scaleTargetRef'>;
  /**
   * Name of the workload to scale, instead of `scaleTargetRef`. The link of the workload may come later in the chain.
   * @defaultValue the name of this object
   */
  readonly workload?: string | undefined;
}

/** Options of {@link BuilderChain.serviceAccount | Builder.serviceAccount}. */
export interface ServiceAccountOptions extends ObjectOptions {
  readonly automountServiceAccountToken?: boolean | undefined;
  readonly imagePullSecrets?: NonNullable<ServiceAccount['imagePullSecrets']> | undefined;
}

/** Options of {@link BuilderChain.role | Builder.role}. */
export interface RoleOptions extends ObjectOptions {
  readonly rules: NonNullable<Role['rules']>;
}

/** Options of {@link BuilderChain.roleBinding | Builder.roleBinding}. */
export interface RoleBindingOptions extends ObjectOptions {
  /** Immutable; see `onImmutable`. */
  readonly roleRef: RoleBinding['roleRef'];
  readonly subjects: NonNullable<RoleBinding['subjects']>;
}

interface SelectingOptions extends ObjectOptions {
  readonly spec: object;
  readonly workload?: string | undefined;
}

function selectingLink(
  type: ResourceType<KubernetesObject>,
  options: SelectingOptions,
): ChainedLink {
  const { name, spec, workload } = options;
  const selects = { name: workload ?? name, explicit: workload !== undefined };
  return { ...objectLink(type, options, { spec }, { workload }), selects };
}

export const serviceLink = (options: ServiceOptions): ChainedLink =>
  selectingLink(Service, options);

export const persistentVolumeClaimLink = (options: PersistentVolumeClaimOptions): ChainedLink =>
  objectLink(PersistentVolumeClaim, options, { spec: options.spec }, { whenOwnerDeleted: true });

export const networkPolicyLink = (options: NetworkPolicyOptions): ChainedLink =>
  selectingLink(NetworkPolicy, options);

export const ingressLink = (options: IngressOptions): ChainedLink =>
  objectLink(Ingress, options, { spec: options.spec });

export const podDisruptionBudgetLink = (options: PodDisruptionBudgetOptions): ChainedLink =>
  selectingLink(PodDisruptionBudget, options);

export const horizontalPodAutoscalerLink = (options: HorizontalPodAutoscalerOptions): ChainedLink =>
  selectingLink(HorizontalPodAutoscaler, options);

export function serviceAccountLink(options: ServiceAccountOptions): ChainedLink {
  const { automountServiceAccountToken, imagePullSecrets } = options;
  return objectLink(ServiceAccount, options, { automountServiceAccountToken, imagePullSecrets });
}

export const roleLink = (options: RoleOptions): ChainedLink =>
  objectLink(Role, options, { rules: options.rules });

export const roleBindingLink = (options: RoleBindingOptions): ChainedLink =>
  objectLink(RoleBinding, options, { roleRef: options.roleRef, subjects: options.subjects });
