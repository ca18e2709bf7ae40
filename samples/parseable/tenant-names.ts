import type { NodeSpec } from './tenant.js';

/** What the objects of a node are called. */
export interface NodeNames {
  readonly configMap: string;
  readonly service: string;
  readonly workload: string;
  readonly container: string;
}

/** The names of a node's objects. */
export function namesOfNode(node: NodeSpec): NodeNames {
  return {
    configMap: `${node.name}-${node.parseableConfig}`,
    service: `${node.name}-${node.k8sConfig}`,
    workload: `${node.k8sConfig}-${node.name}`,
    container: `${node.name}-${node.type}`,
  };
}

/** The claim for a `storageConfig` of a node. */
export function claimNameOf(node: NodeSpec, storage: string): string {
  return `${node.name}-${node.k8sConfig}-${storage}`;
}

/** The ConfigMap of `external`. */
export function externalNameOf(tenant: string): string {
  return `${tenant}-ext`;
}
