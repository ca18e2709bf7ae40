import type { PodSpec } from '../apply/index.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';

/** Every phase of a configuration, in the order of a life. `''`: nothing was done yet. */
export const phases = [
  '',
  'Deploying',
  'Deployed',
  'Upgrading',
  'Error',
  'Deleting',
  'Deleted',
] as const;

/** How far an operator is with the system that a configuration asks for. */
export type Phase = (typeof phases)[number];

/** The conditions that a cluster-wide owner reads. */
export type LifecycleConditionType = 'Available' | 'Progressing' | 'Degraded' | 'Upgradeable';

/** A condition, as the cluster-wide owner's own types have it. */
export interface LifecycleCondition {
  /** A {@link LifecycleConditionType}, or one of the operator's own. */
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  /** When it was last looked at: RFC 3339, whole seconds. */
  readonly lastHeartbeatTime?: string;
  /** When `status` last flipped. */
  readonly lastTransitionTime?: string;
}

/** What is inlined in the status of a configuration; names are those of the wire. */
export interface LifecycleStatus {
  readonly phase?: Phase;
  readonly conditions?: readonly LifecycleCondition[];
  /** The version of the operator that last looked at it. */
  readonly operatorVersion?: string;
  /** The version that is being deployed, or was. */
  readonly targetVersion?: string;
  /** The version that is deployed; absent until the first deployment is complete. */
  readonly observedVersion?: string;
}

/** A configuration: the custom resource that asks for a whole system. */
export interface LifecycleObject extends KubernetesObject {
  readonly status?: LifecycleStatus | undefined;
}

/** Where Pods may run; copied into Pod templates as it is, and only what is set. */
export type NodePlacement = Readonly<Pick<PodSpec, 'nodeSelector' | 'affinity' | 'tolerations'>>;
