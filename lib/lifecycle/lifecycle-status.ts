import type { PodSpec } from '../apply/index.js';
import type { KubernetesObject, TypeReference } from '../object/index.js';

/** Every phase of a configuration, in the order of its lifecycle. `''` means that nothing was done yet. */
export const phases = [
  '',
  'Deploying',
  'Deployed',
  'Upgrading',
  'Error',
  'Deleting',
  'Deleted',
] as const;

/** The progress of an operator with the system that a configuration describes. */
export type Phase = (typeof phases)[number];

/** A condition with the fields of OpenShift's `custom-resource-status` API. */
export interface LifecycleCondition {
  /** `Available`, `Progressing`, `Degraded` or `Upgradeable`, or a type that the operator defines. */
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  /** The time of the last check: RFC 3339, whole seconds. */
  readonly lastHeartbeatTime?: string;
  /** The time when `status` last flipped. */
  readonly lastTransitionTime?: string;
}

/** Status fields that the lifecycle maintains, as they appear in the API. */
export interface LifecycleStatus {
  readonly phase?: Phase;
  readonly conditions?: readonly LifecycleCondition[];
  /** The version of the operator that last reconciled the configuration. */
  readonly operatorVersion?: string;
  /** The version of the current or last deployment. */
  readonly targetVersion?: string;
  /** The version that is deployed; absent until the first deployment is complete. */
  readonly observedVersion?: string;
}

/** A configuration: the custom resource that describes a whole system. */
export interface LifecycleObject extends KubernetesObject {
  readonly status?: LifecycleStatus | undefined;
}

/** Constraints on where Pods run; copied unchanged into Pod templates, and only the fields that are set. */
export type NodePlacement = Readonly<Pick<PodSpec, 'nodeSelector' | 'affinity' | 'tolerations'>>;

/** Connects the reconciler to an operator's configuration and system. */
export interface CrManager<CR extends LifecycleObject> {
  /** The kind of the configuration. */
  readonly type: TypeReference<CR>;
  /**
   * Whether nothing has been deployed yet. @defaultValue the status has neither `operatorVersion` nor
   * `observedVersion`
   */
  isCreating?(cr: CR): boolean;
  /** Returns the lifecycle's part of the status. @defaultValue `cr.status` */
  status?(cr: CR): LifecycleStatus | undefined;
  /** Returns `cr` with another status; required if `status` is set. @defaultValue merged into `cr.status` */
  withStatus?(cr: CR, status: LifecycleStatus): CR;
  /**
   * Returns every desired object for `cr`, complete, in the order of creation. The result is not modified.
   */
  getAllResources(cr: CR): readonly KubernetesObject[] | Promise<readonly KubernetesObject[]>;
  /** The kinds whose objects are pruned when `getAllResources` no longer returns them. */
  getDependantResourceTypes(): readonly TypeReference<KubernetesObject>[];
}
