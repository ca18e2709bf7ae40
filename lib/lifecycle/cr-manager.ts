import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import type { LifecycleObject, LifecycleStatus } from './lifecycle-status.js';

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
