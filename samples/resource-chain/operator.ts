import { ConfigMap, Deployment, Namespace, Operator, Secret, Service } from 'operator-builder';
import { resourceChain } from 'operator-builder/resource';
import type { ChainOptions } from './chain-parts.js';
import { chainV1 } from './chain-v1.js';
import { chainV2 } from './chain-v2.js';
import { Site } from './site.js';

/** Name in the operator's finalizer, and its field manager. */
export const operatorName = 'site-operator';

/** Returns an operator that installs its custom resource, and reconciles every site with its chain. */
export function siteOperator(options: ChainOptions): Operator {
  const operator = new Operator(operatorName, { installCrds: true });
  operator
    .for(Site, { name: operatorName })
    .owns(Namespace, ConfigMap, Secret, Service, Deployment)
    .uses(resourceChain([chainV1(options), chainV2(options)]));
  return operator;
}
