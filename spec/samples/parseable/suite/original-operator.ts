import type { Client } from '../../../../lib/client/index.js';
import type { ConfigMap, Deployment } from '../../../../lib/object/kinds.js';
import { ownerReferenceTo } from '../../../../lib/object/owner-reference.js';
import type { ParseableTenant } from '../../../../samples/parseable/tenant.js';

/**
 * Creates the objects of the first entry of `spec.nodes` as the operator in Go creates them that the sample replaces:
 * with `create` and the field manager `manager`, with selectors that do not name the node, and with a ConfigMap entry
 * that the sample does not have.
 */
export async function createAsOriginal(
  client: Client,
  tenant: ParseableTenant,
): Promise<Deployment> {
  const [node] = tenant.spec.nodes;
  if (node === undefined) throw new TypeError('a tenant without nodes');
  const labels = {
    app: 'parseable',
    custom_resource: tenant.metadata.name ?? '',
    nodeType: node.type,
    parseableConfig: node.parseableConfig,
    k8sConfigGroup: node.k8sConfig,
  };
  const ownerReferences = [ownerReferenceTo(tenant, { controller: true })];
  const metadata = { namespace: tenant.metadata.namespace ?? '', labels, ownerReferences };
  const writing = { fieldManager: 'manager' };
  const configMap: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadata, name: `${node.name}-${node.parseableConfig}` },
    data: { ...tenant.spec.parseableConfig[0]?.env, data: 'left over' },
  };
  await client.create(configMap, writing);
  const containers = [{ name: `${node.name}-${node.type}`, image: 'parseable/parseable:v0.4.0' }];
  const deployment: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...metadata, name: `${node.k8sConfig}-${node.name}` },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
  return client.create(deployment, writing);
}
