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
} from '../../object/kinds.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { ResourceType } from '../../object/resource-type.js';
import type { ChainedLink, ObjectOptions } from '../link.js';
import { objectLink } from './object-link.js';

/** The `spec` of objects of type `T`, as it may be given. */
export type SpecOf<T extends { spec?: unknown }> = Lenient<NonNullable<T['spec']>>;

/** Options of {@link BuilderChain.service | Builder.service}. */
export interface ServiceOptions<Name extends string = string> extends ObjectOptions<Name> {
  /**
   * Without a `selector`, the pods of the workload named by `workload` are selected; with an empty
   * one (`{}`), none: for endpoints that are managed otherwise.
   */
  readonly spec: SpecOf<Service>;
  /** The workload to select the pods of; it may be chained later. @defaultValue the one of this name */
  readonly workload?: string | undefined;
}

/** `Spec`, whose `Field` may be left out: `workload` says it. */
export type Fillable<Spec, Field extends keyof Spec> = Omit<Spec, Field> & {
  readonly [Key in Field]?: Spec[Key] | undefined;
};

/** Options of {@link BuilderChain.persistentVolumeClaim | Builder.persistentVolumeClaim}. */
export interface PersistentVolumeClaimOptions<Name extends string = string>
  extends ObjectOptions<Name>, ClaimOptions {
  /** The requested storage may grow later; nothing else may change. */
  readonly spec: SpecOf<PersistentVolumeClaim>;
}

/** Options of {@link BuilderChain.networkPolicy | Builder.networkPolicy}. */
export interface NetworkPolicyOptions extends ObjectOptions {
  /** One of `workload` and `podSelector` is needed; an empty `podSelector` selects all pods. */
  readonly spec: Fillable<SpecOf<NetworkPolicy>, 'podSelector'>;
  /** The workload to select the pods of; it may be chained later. @defaultValue the one of this name */
  readonly workload?: string | undefined;
}

/** Options of {@link BuilderChain.ingress | Builder.ingress}. */
export interface IngressOptions extends ObjectOptions {
  readonly spec: SpecOf<Ingress>;
}

/** Options of {@link BuilderChain.podDisruptionBudget | Builder.podDisruptionBudget}. */
export interface PodDisruptionBudgetOptions extends ObjectOptions {
  /** Without a `selector`, the pods of the workload named by `workload` are selected. */
  readonly spec: SpecOf<PodDisruptionBudget>;
  /** The workload to select the pods of; it may be chained later. @defaultValue the one of this name */
  readonly workload?: string | undefined;
}

/** Options of {@link BuilderChain.horizontalPodAutoscaler | Builder.horizontalPodAutoscaler}. */
export interface HorizontalPodAutoscalerOptions extends ObjectOptions {
  /** `replicas` of the workload that is scaled is set at its creation only. */
  readonly spec: Fillable<SpecOf<HorizontalPodAutoscaler>, 'scaleTargetRef'>;
  /**
   * The workload to scale, instead of `scaleTargetRef`; it may be chained later.
   * @defaultValue the one of this name
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

/** The link of a Service. */
export const serviceLink = (options: ServiceOptions): ChainedLink =>
  selectingLink(Service, options);

/** The link of a PersistentVolumeClaim. */
export const persistentVolumeClaimLink = (options: PersistentVolumeClaimOptions): ChainedLink =>
  objectLink(PersistentVolumeClaim, options, { spec: options.spec }, { whenOwnerDeleted: true });

/** The link of a NetworkPolicy. */
export const networkPolicyLink = (options: NetworkPolicyOptions): ChainedLink =>
  selectingLink(NetworkPolicy, options);

/** The link of an Ingress. */
export const ingressLink = (options: IngressOptions): ChainedLink =>
  objectLink(Ingress, options, { spec: options.spec });

/** The link of a PodDisruptionBudget. */
export const podDisruptionBudgetLink = (options: PodDisruptionBudgetOptions): ChainedLink =>
  selectingLink(PodDisruptionBudget, options);

/** The link of a HorizontalPodAutoscaler. */
export const horizontalPodAutoscalerLink = (options: HorizontalPodAutoscalerOptions): ChainedLink =>
  selectingLink(HorizontalPodAutoscaler, options);

/** The link of a ServiceAccount. */
export function serviceAccountLink(options: ServiceAccountOptions): ChainedLink {
  const { automountServiceAccountToken, imagePullSecrets } = options;
  return objectLink(ServiceAccount, options, { automountServiceAccountToken, imagePullSecrets });
}

/** The link of a Role. */
export const roleLink = (options: RoleOptions): ChainedLink =>
  objectLink(Role, options, { rules: options.rules });

/** The link of a RoleBinding. */
export const roleBindingLink = (options: RoleBindingOptions): ChainedLink =>
  objectLink(RoleBinding, options, { roleRef: options.roleRef, subjects: options.subjects });
