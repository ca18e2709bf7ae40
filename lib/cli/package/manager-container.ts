import { isJsonObject } from '../../object/json.js';
import { OperatorError } from '../../system/operator-error.js';
import type { Json } from '../kustomize/json-values.js';
import { objectAt, textAt } from '../kustomize/json-values.js';

/** Name of the manager's image before kustomizations replace it. */
export const managerImage = 'controller';

/** The Deployment of an operator, and its container. */
export interface ManagerDeployment {
  readonly deployment: Json;
  readonly podSpec: Json;
  readonly container: Json;
}

/**
 * Finds the operator among objects: the Deployment with a container called `manager`.
 * @param from - the overlay, for messages
 * @throws OperatorError `InvalidConfig`: no such Deployment, or several
 */
export function managerDeployment(objects: readonly object[], from: string): ManagerDeployment {
  const [first, ...others] = managersAmong(objects);
  if (first !== undefined && others.length === 0) return first;
  const count = first === undefined ? 'no Deployment' : 'several Deployments';
  throw new OperatorError(
    'InvalidConfig',
    `${from} has ${count} with a container called manager: the operator's has to be the only one`,
  );
}

/** Returns the operators among objects. */
export function managersAmong(objects: readonly object[]): readonly ManagerDeployment[] {
  return (objects as readonly Json[]).flatMap(managersIn);
}

function managersIn(deployment: Json): readonly ManagerDeployment[] {
  if (textAt(deployment, 'kind') !== 'Deployment') return [];
  const template = objectAt(objectAt(deployment, 'spec') ?? {}, 'template');
  const podSpec = objectAt(template ?? {}, 'spec') ?? {};
  const { containers } = podSpec;
  const list: readonly unknown[] = Array.isArray(containers) ? containers : [];
  const managers = list.filter(
    (one): one is Json => isJsonObject(one) && one['name'] === 'manager',
  );
  return managers.map((container) => ({ deployment, podSpec, container }));
}
