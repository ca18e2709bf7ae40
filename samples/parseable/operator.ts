import {
  ConfigMap,
  Deployment,
  Operator,
  PersistentVolumeClaim,
  Service,
  StatefulSet,
  TerminalError,
  getIfExists,
  isControlledBy,
} from 'operator-builder';
import type { Client, StatusDraft } from 'operator-builder';
import {
  builderOptions,
  namesOf,
  orderedNodes,
  tenantChain,
  workloadKinds,
} from './tenant-chain.js';
import { problemText, tenantProblems, tenantWebhook } from './tenant-problems.js';
import { ParseableTenant } from './tenant.js';
import type { NodeSpec, NodeStatus } from './tenant.js';

/** Field manager of everything that the operator writes, and the reporter of its Events. */
export const operatorName = 'parseable-operator';

/**
 * Returns an operator that installs its custom resource, and reconciles every tenant.
 * @param namespaces - the namespaces to watch; empty for all
 */
export function tenantOperator(namespaces: readonly string[] = []): Operator {
  const operator = new Operator(operatorName, {
    ...{ installCrds: true, webhooks: [tenantWebhook] },
    cacheOptions: namespaces.length === 0 ? {} : { namespaces },
  });
  operator
    .for(ParseableTenant)
    .owns(ConfigMap, Service, PersistentVolumeClaim, Deployment, StatefulSet)
    .withBuilder(builderOptions)
    .reconciles(async ({ object: tenant, builder, client, status }) => {
      const problems = tenantProblems(tenant);
      if (problems.length > 0) {
        throw new TerminalError(problemText(problems), { reason: 'InvalidSpec' });
      }
      const chain = tenantChain(builder, tenant);
      try {
        await chain.reconcileConfigMap();
        await chain.reconcileService();
        await chain.reconcileStorage();
        await chain.reconcileDeployOrSts();
        await chain.reconcileStore();
      } finally {
        // The status is also written after a failure: it then shows which nodes are not ready.
        await showNodes(tenant, client, status);
      }
    });
  return operator;
}

async function showNodes(
  tenant: ParseableTenant,
  client: Client,
  status: StatusDraft<ParseableTenant>,
): Promise<void> {
  const ordered = orderedNodes(tenant.spec);
  const nodes = await Promise.all(ordered.map((node) => nodeStatus(tenant, node, client)));
  const waiting = nodes.filter((node) => node.readyReplicas < node.desiredReplicas);
  status.set({ nodes, ready: `${nodes.length - waiting.length}/${nodes.length}` });
  const texts = waiting.map(
    ({ name, readyReplicas, desiredReplicas }) =>
      `${name} has ${readyReplicas} of ${desiredReplicas} pods ready`,
  );
  status.setCondition({
    type: 'Available',
    ...(waiting.length === 0
      ? { status: 'True', reason: 'AllNodesReady', message: 'every node is ready' }
      : { status: 'False', reason: 'NodesNotReady', message: texts.join('; ') }),
  });
}

async function nodeStatus(
  tenant: ParseableTenant,
  node: NodeSpec,
  client: Client,
): Promise<NodeStatus> {
  const { workload: name, configMap } = namesOf(node);
  const type = workloadKinds.get(node.kind) === 'StatefulSet' ? StatefulSet : Deployment;
  const key = { name, namespace: tenant.metadata.namespace };
  const found = await getIfExists<Deployment | StatefulSet>(client, type, key);
  // A workload of that name may belong to another tenant.
  const own = found !== undefined && isControlledBy(found, tenant) ? found : undefined;
  const { readyReplicas = 0, updatedReplicas = 0 } = own?.status ?? {};
  const variable = `CONFIGMAP_HASH_${configMap.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
  const env = own?.spec?.template.spec?.containers[0]?.env ?? [];
  const hash = env.find((each) => each.name.startsWith(variable))?.value;
  return {
    ...{ name: node.name, type: node.type, desiredReplicas: node.replicas },
    ...{ readyReplicas, updatedReplicas },
    ...(hash !== undefined && { configHash: hash }),
  };
}
