import type { CustomResourceDefinition } from '../object/kinds.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { ResourceType } from '../object/resource-type.js';
import type { Manager } from './manager.js';
import type { ManagerOptions } from './manager-options.js';
import type { Webhook } from './webhooks/webhook.js';

/** A custom resource of an operator: what `defineResource` made. */
export type OperatorResource = ResourceType<KubernetesObject> & {
  readonly crd: CustomResourceDefinition;
};

/**
 * An operator, as tools see it: `src/operator.ts` of a project exports one as `operator`, and the
 * commands `manifests`, `plan` and `run` of the program `operator-builder` load it.
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
  /** What it is called: a DNS label, for it is a part of the names of objects. */
  readonly name: string;
  /** Its custom resources. @defaultValue none */
  readonly resources?: readonly OperatorResource[] | undefined;
  /** What the API server is to ask it. @defaultValue none */
  readonly webhooks?: readonly Webhook[] | undefined;
  /**
   * What of which kinds its controllers have to see: `src/main.ts` and the command `run` give it to their
   * managers. @defaultValue everything of the kinds that are watched
   */
  readonly cacheOptions?: ManagerOptions['cacheOptions'];
  /**
   * Adds its controllers, and what else it runs, to a manager. It is called by tools too, for managers
   * that never run: it must neither wait for anything nor reach outside of the manager.
   */
  setup(manager: Manager): void | Promise<void>;
}
