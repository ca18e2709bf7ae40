import type { Client } from '../../client/client.js';
import { Manager, operatorWebhooks } from '../../manager/index.js';
import { accessRules } from '../../manager/access/operator-role.js';
import type { AccessRules } from '../../manager/access/operator-role.js';
import type { OperatorDefinition } from '../../manager/index.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { ResourceType, TypeReference } from '../../object/resource-type.js';
import { asError } from '../../system/as-error.js';
import { OperatorError, isOperatorError } from '../../system/operator-error.js';
import { unreachableClient } from './unreachable-client.js';

/** The operator's namespace in the files of a project; kustomize replaces it. */
export const ownNamespace = 'system';

/**
 * Collects an operator's declared access with a manager that never runs and has no cluster.
 * @throws OperatorError `InvalidConfig`: its `setup` throws or sends a request, or it declares access to a
 * kind without the path where it is served
 */
export async function declaredRules(operator: OperatorDefinition): Promise<AccessRules> {
  const { name, resources = [] } = operator;
  const client = unreachableClient((request) => {
    const remedy = 'send it from a runnable of the manager';
    return `setup of the operator ${name} sends a request (${request}), but manifests are generated without a cluster; ${remedy}`;
  });
  const namespace = ownNamespace;
  const manager = new Manager({
    client,
    // As in `src/main.ts` of a project.
    cacheOptions: operator.cacheOptions,
    leaderElection: { name, namespace },
    webhooks: operatorWebhooks(operator, { client, namespace }),
  });
  try {
    await operator.setup(manager);
  } catch (error) {
    if (isOperatorError(error, 'InvalidConfig')) throw error;
    const where = '(OPERATOR_BUILDER_DEBUG=1 shows where)';
    const message = `setup of the operator ${name} failed: ${asError(error).message}\n${where}`;
    throw new OperatorError('InvalidConfig', message, { cause: error });
  }
  return accessRules(manager.requiredAccess(), servedAt(resources, client));
}

function servedAt(own: readonly ResourceType<KubernetesObject>[], client: Client) {
  return async (type: TypeReference<KubernetesObject>): Promise<ResourceType> => {
    if ('plural' in type) return type as ResourceType;
    const known = own.find(
      (each) => each.kind === type.kind && apiVersionOf(each) === apiVersionOf(type),
    );
    if (known !== undefined) return known as ResourceType;
    try {
      return await client.resourceType(type);
    } catch (cause) {
      const { kind } = type;
      const what = `the operator works on ${kind} of ${apiVersionOf(type)}`;
      const remedy = `name it with its plural: { group, version, kind: '${kind}', plural, namespaced }`;
      const message = `${what}, and only a cluster knows where that is served: ${remedy}`;
      throw new OperatorError('InvalidConfig', message, { cause });
    }
  };
}
