import { ensureCrd } from '../../../../lib/client/index.js';
import { isConditionTrue } from '../../../../lib/object/conditions.js';
import { ConfigMap, PersistentVolumeClaim, Service } from '../../../../lib/object/kinds.js';
import type { CrashScenario } from '../../../../lib/testing/index.js';
import type {
  CrashCluster,
  CrashStage,
} from '../../../../lib/testing/crash-points/crash-scenario.js';
import type { KubernetesObject } from '../../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../../lib/object/resource-type.js';
import { silentLogger } from '../../../../lib/system/logger.js';
import { tenantOperator } from '../../../../samples/parseable/operator.js';
import { ParseableTenant } from '../../../../samples/parseable/tenant.js';
import type { TenantSpec } from '../../../../samples/parseable/tenant.js';

const name = 'logs';
const label = `custom_resource=${name}`;

/**
 * The life of a tenant under the sample's operator: created with an ingestor that has a claim, and
 * a querier that rolls after it; a shared value is changed; the ingestor is removed; the tenant is
 * deleted.
 */
export function tenantScenario<C extends CrashCluster>(): CrashScenario<C> {
  return {
    name: 'a tenant',
    setup: ({ client }) => ensureCrd(client, ParseableTenant.crd),
    operator: ({ cluster, ...stage }) =>
      tenantOperator([namespaceOf(cluster)]).run({
        ...{ ...stage, rbacPreflight: 'off', logger: silentLogger },
      }),
    steps: [
      { name: 'create', change: create, until: isAvailable },
      { name: 'change a value', change: (stage) => edit(stage, withLogLevel), until: isAvailable },
      {
        name: 'take a node out',
        change: (stage) => edit(stage, withoutIngestor),
        until: isAvailable,
      },
      { name: 'delete', change: remove, until: isGone },
    ],
  };
}

function namespaceOf({ namespace = 'default' }: CrashCluster): string {
  return namespace;
}

function keyIn({ cluster }: CrashStage<CrashCluster>): { name: string; namespace: string } {
  return { name, namespace: namespaceOf(cluster) };
}

async function create(stage: CrashStage<CrashCluster>): Promise<void> {
  await stage.client.create<ParseableTenant>({
    apiVersion: 'parseable.io/v1beta1',
    kind: 'ParseableTenant',
    metadata: keyIn(stage),
    spec,
  });
}

async function edit(
  stage: CrashStage<CrashCluster>,
  change: (spec: TenantSpec) => TenantSpec,
): Promise<void> {
  const tenant = await stage.client.get(ParseableTenant, keyIn(stage));
  const body = { spec: change(tenant.spec) };
  await stage.client.patch(ParseableTenant, keyIn(stage), { type: 'merge', body });
}

async function remove(stage: CrashStage<CrashCluster>): Promise<void> {
  await stage.client.delete(ParseableTenant, keyIn(stage));
}

async function isAvailable(stage: CrashStage<CrashCluster>): Promise<boolean> {
  const { metadata, status } = await stage.client.get(ParseableTenant, keyIn(stage));
  return (
    status?.observedGeneration === metadata.generation &&
    isConditionTrue(status?.conditions, 'Available') &&
    !isConditionTrue(status?.conditions, 'Progressing') &&
    !isConditionTrue(status?.conditions, 'Degraded')
  );
}

async function isGone({ client, cluster }: CrashStage<CrashCluster>): Promise<boolean> {
  const within = { namespace: namespaceOf(cluster), labelSelector: label };
  const kinds: ResourceType<KubernetesObject>[] = [ConfigMap, Service, PersistentVolumeClaim];
  const lists = await Promise.all(kinds.map((kind) => client.list(kind, within)));
  return lists.every(({ items }) => items.length === 0);
}

const service = { ports: [{ port: 80, targetPort: 8000 }] };
const data = {
  name: 'data',
  mountPath: '/data',
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

const spec: TenantSpec = {
  deploymentOrder: ['ingest', 'query'],
  nodes: [
    {
      ...{ name: 'querier', type: 'query', kind: 'Deployment', replicas: 1 },
      ...{ k8sConfig: 'stateless', parseableConfig: 'back' },
    },
    {
      ...{ name: 'ingestor', type: 'ingest', kind: 'StatefulSet', replicas: 1 },
      ...{ k8sConfig: 'staged', parseableConfig: 'back' },
    },
  ],
  k8sConfig: [
    { name: 'stateless', image: 'registry.example/parseable:1', service },
    { name: 'staged', image: 'registry.example/parseable:1', service, storageConfig: [data] },
  ],
  parseableConfig: [{ name: 'back', cliArgs: ['s3-store'], env: { P_ADDR: '0.0.0.0:8000' } }],
};

function withLogLevel(old: TenantSpec): TenantSpec {
  const parseableConfig = old.parseableConfig.map((config) => ({
    ...config,
    env: { ...config.env, P_LOG_LEVEL: 'debug' },
  }));
  return { ...old, parseableConfig };
}

function withoutIngestor(old: TenantSpec): TenantSpec {
  return { ...old, nodes: old.nodes.filter((node) => node.name !== 'ingestor') };
}
