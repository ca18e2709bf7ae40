import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import type { LifecycleObject, LifecycleStatus } from './lifecycle-status.js';

/** What an operator tells the reconciler about its configuration and its system. */
export interface CrManager<CR extends LifecycleObject> {
  /** The kind of the configuration. */
  readonly type: TypeReference<CR>;
  /** Whether nothing was deployed yet. @defaultValue the status has neither `operatorVersion` nor `observedVersion` */
  isCreating?(cr: CR): boolean;
  /** The lifecycle's part of the status. @defaultValue `cr.status` */
  status?(cr: CR): LifecycleStatus | undefined;
  /** `cr` with another status; needed where `status` is given. @defaultValue merged into `cr.status` */
  withStatus?(cr: CR, status: LifecycleStatus): CR;
  /**
   * Every object that there should be for `cr`, complete, in the order in which they are made. What
   * is returned is not changed.
   */
  getAllResources(cr: CR): readonly KubernetesObject[] | Promise<readonly KubernetesObject[]>;
  /** The kinds whose objects are pruned when they are no longer among all resources. */
  getDependantResourceTypes(): readonly TypeReference<KubernetesObject>[];
}
