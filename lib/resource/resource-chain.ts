import { ownVerbs } from '../manager/index.js';
import type { KubernetesObject } from '../object/index.js';
import type { ControllerStyle } from '../operator/index.js';
import { Framework } from './framework/framework.js';
import type { FrameworkOptions } from './framework/framework-options.js';
import { ResourceRouter, ResourceSet } from './resource-set.js';
import type { ResourceSetOptions, Resource } from './resource-set.js';
import { withRetry } from './with-retry.js';
import { wrap } from './wrap.js';

/** Options of {@link resourceChain}. */
export interface ResourceChainOptions<T extends KubernetesObject>
  extends
    Pick<ResourceSetOptions<T>, 'initContext' | 'deletionOrder'>,
    Pick<
      FrameworkOptions<T>,
      | 'finalizerPrefix'
      | 'keptFinalizerRetryMs'
      | 'pauseAnnotations'
      | 'readyCondition'
      | 'resyncPeriodMs'
    > {}

/**
 * Reconciles the objects of an operator's controller by a chain of resources, each retried on its own. For
 * several chains, one for each version or shape of the objects, pass resource sets.
 *
 * @example
 * ```ts
 * operator.for(Website).owns(Deployment).uses(resourceChain([deployment]));
 * ```
 * @throws InvalidConfigError there are no resources, two have the same name, or one is not a resource.
 */
export function resourceChain<T extends KubernetesObject>(
  chain: readonly Resource<T>[] | readonly ResourceSet<T>[],
  options: ResourceChainOptions<T> = {},
): ControllerStyle<T> {
  const { initContext, deletionOrder, ...framework } = options;
  const isSets = chain.length > 0 && chain.every((each) => each instanceof ResourceSet);
  const resourceSets = isSets
    ? chain
    : [
        new ResourceSet<T>({
          ...{ name: 'v1', handles: () => true, initContext, deletionOrder },
          resources: wrap(chain as readonly Resource<T>[], withRetry),
        }),
      ];
  const resourceRouter = new ResourceRouter({ resourceSets });
  return {
    addTo: (manager, { name, operatorName, type, owns, options: controller, ...links }) => {
      const { client, clock, logger } = manager;
      const added = new Framework<T>({
        ...{ ...framework, name, type, client, clock, logger, resourceRouter, controller },
        recorder: manager.eventRecorder(operatorName),
        configure: (builder) =>
          links.configure(owns.reduce((all, owned) => all.owns(owned), builder)),
      });
      const owned = owns.map((each) => ({ type: each, verbs: ownVerbs }));
      added.addTo(manager, { ...links.place, requires: [...owned, ...links.requires] });
    },
  };
}
