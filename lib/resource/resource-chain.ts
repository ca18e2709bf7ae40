import { ownVerbs } from '../manager/index.js';
import { withoutMembers } from '../object/index.js';
import type { KubernetesObject } from '../object/index.js';
import type { ControllerStyle } from '../operator/index.js';
import { Framework } from './framework/framework.js';
import type { FrameworkOptions } from './framework/framework-options.js';
import { InvalidConfigError } from './errors.js';
import { faultInResources, ResourceRouter, ResourceSet } from './resource-set.js';
import type { ResourceSetOptions, Resource } from './resource-set.js';
import { withRetry } from './with-retry.js';
import { wrap } from './wrap.js';
import { refuseUnknownOptions } from '../system/index.js';
import type { OptionNames } from '../system/index.js';

type ChainFrameworkOptions<T extends KubernetesObject> = Pick<
  FrameworkOptions<T>,
  | 'finalizerPrefix'
  | 'keptFinalizerRetryMs'
  | 'pauseAnnotations'
  | 'readyCondition'
  | 'resyncPeriodMs'
>;

/** Options of {@link resourceChain}. Sets have an `initContext` and a `deletionOrder` of their own. */
export interface ResourceChainOptions<T extends KubernetesObject>
  extends Pick<ResourceSetOptions<T>, 'initContext' | 'deletionOrder'>, ChainFrameworkOptions<T> {}

const frameworkOptionNames: OptionNames<ChainFrameworkOptions<never>> = {
  ...{ finalizerPrefix: true, keptFinalizerRetryMs: true, pauseAnnotations: true },
  ...{ readyCondition: true, resyncPeriodMs: true },
};

/**
 * Reconciles the objects of an operator's controller by a chain of resources, each retried on its own. For
 * several chains, one for each version or shape of the objects, pass resource sets.
 *
 * @example
 * ```ts
 * operator.for(Website).owns(Deployment).uses(resourceChain([deployment]));
 * ```
 * @throws InvalidConfigError there are no resources, two have the same name, or one is not a resource.
 * @throws OperatorError `InvalidOption`: an option is unknown, or belongs to each of the sets.
 */
export function resourceChain<T extends KubernetesObject>(
  chain: readonly Resource<T>[] | readonly ResourceSet<T>[],
  options: ResourceChainOptions<T> = {},
): ControllerStyle<T> {
  const resourceSets = isSets(chain) ? chainOfSets(chain, options) : [chainOf(chain, options)];
  const resourceRouter = new ResourceRouter({ resourceSets });
  const framework = withoutMembers(options, 'initContext', 'deletionOrder');
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

function isSets<T extends KubernetesObject>(
  chain: readonly Resource<T>[] | readonly ResourceSet<T>[],
): chain is readonly ResourceSet<T>[] {
  if (!Array.isArray(chain) || chain.length === 0) return false;
  return chain.every((each) => each instanceof ResourceSet);
}

function chainOfSets<T extends KubernetesObject>(
  sets: readonly ResourceSet<T>[],
  options: ChainFrameworkOptions<T>,
): readonly ResourceSet<T>[] {
  const misplaced = 'give it to each ResourceSet';
  refuseUnknownOptions('resourceChain of sets', options, frameworkOptionNames, {
    initContext: misplaced,
    deletionOrder: misplaced,
  });
  return sets;
}

function chainOf<T extends KubernetesObject>(
  resources: readonly Resource<T>[],
  options: ResourceChainOptions<T>,
): ResourceSet<T> {
  const names = { ...frameworkOptionNames, initContext: true, deletionOrder: true };
  refuseUnknownOptions('resourceChain', options, names);
  const fault = faultInResources(resources);
  if (fault !== undefined) throw new InvalidConfigError(`resourceChain: ${fault}`);
  const { initContext, deletionOrder } = options;
  return new ResourceSet<T>({
    ...{ name: 'v1', handles: () => true, initContext, deletionOrder },
    resources: wrap(resources, withRetry),
  });
}
