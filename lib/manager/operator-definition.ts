import type { CustomResourceDefinition } from '../object/kinds.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { ResourceType } from '../object/resource-type.js';
import type { Manager } from './manager.js';
import type { ManagerOptions } from './manager-options.js';
import type { Webhook } from './webhooks/webhook.js';

/** A custom resource of an operator, as returned by `defineResource`. */
export type OperatorResource = ResourceType<KubernetesObject> & {
  readonly crd: CustomResourceDefinition;
};

/**
 * An operator as tools load it. `src/operator.ts` of a project exports one as `operator` for the commands
 * `manifests`, `plan` and `run` of `operator-builder`.
 *
 * @example
 * ```ts
 * export const operator: OperatorDefinition = {
 *   name: 'websites',
 *   resources: [Website],
 *   setup: (manager) => void manager.add(websiteController()),
 * };
 * ```
 */
export interface OperatorDefinition {
  /** Name of the operator: a DNS label, since it is part of object names. */
  readonly name: string;
  /** Custom resources of the operator. @defaultValue none */
  readonly resources?: readonly OperatorResource[] | undefined;
  /** Admission and conversion webhooks to serve. @defaultValue none */
  readonly webhooks?: readonly Webhook[] | undefined;
  /**
   * Limits what its controllers cache, by kind. `src/main.ts` and the command `run` pass it to their
   * managers. @defaultValue all objects of the watched kinds
   */
  readonly cacheOptions?: ManagerOptions['cacheOptions'];
  /**
   * Adds the operator's controllers and runnables to a manager. Tools call it too, with managers that never
   * run: it must not wait, and must not access anything but the manager.
   */
  setup(manager: Manager): void | Promise<void>;
}
