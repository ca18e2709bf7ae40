import type { ControllerDocument } from '../../../lib/declarative/crd/operator-resource.js';
import { DeclarativeOperator } from '../../../lib/declarative/operator/operator.js';
import { DeclarativeManager } from '../../../lib/declarative/views/index.js';
import { ConfigMap, Deployment } from '../../../lib/object/kinds.js';
import type { CrashScenario } from '../../../lib/testing/index.js';
import type {
  CrashCluster,
  CrashStage,
  CrashStep,
  OperatorStage,
} from '../../../lib/testing/crash-points/crash-scenario.js';
import { PatientClock } from './patient-clock.js';
import { deployment } from './updater.js';

const configMap = { apiGroup: '', kind: 'ConfigMap' };
const namespaceOf = '$.metadata.namespace';

/**
 * Controllers that split a list in a ConfigMap to views, make a ConfigMap of each, and roll a
 * Deployment by its version.
 */
const shop: readonly ControllerDocument[] = [
  {
    name: 'items',
    sources: [{ ...configMap, labelSelector: { matchLabels: { role: 'list' } } }],
    pipeline: [
      {
        '@project': {
          metadata: { name: '$.metadata.name', namespace: namespaceOf },
          version: '$.data.version',
          item: { '@split': ['$.data.items', ','] },
        },
      },
      { '@unwind': '$.item' },
    ],
    target: { kind: 'Item' },
  },
  {
    name: 'maps',
    sources: [{ kind: 'Item' }],
    target: configMap,
    pipeline: [
      {
        '@project': {
          metadata: { name: '$.metadata.name', namespace: namespaceOf, labels: { role: 'item' } },
          data: { item: '$.item', version: '$.version' },
        },
      },
    ],
  },
  {
    name: 'roll',
    sources: [{ ...configMap, labelSelector: { matchLabels: { role: 'list' } } }],
    pipeline: {
      '@project': {
        metadata: { name: 'web', namespace: namespaceOf },
        spec: {
          template: { metadata: { annotations: { 'shop.example.com/version': '$.data.version' } } },
        },
      },
    },
    target: { apiGroup: 'apps', kind: 'Deployment', type: 'Patcher' },
  },
];

/** A scenario in which a declarative operator rolls out several documents and deletes them. */
export function rolloutScenario<C extends CrashCluster>(): CrashScenario<C> {
  return {
    name: 'a rollout of several documents',
    kinds: [ConfigMap, Deployment],
    setup: ({ client, cluster }) =>
      client.create<Deployment>({
        ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: keyIn(cluster, 'web') },
        ...deployment({ replicas: 1 }),
      }),
    operator: runShop,
    steps: [
      list('create', { items: 'a,b', version: '1' }),
      list('roll', { items: 'a,c', version: '2' }),
      list('shrink', { items: 'a', version: '2' }),
      deletion(),
    ],
  };
}

async function runShop(stage: OperatorStage<CrashCluster>): Promise<void> {
  const { client, clock, random, signal } = stage;
  const creation = DeclarativeManager.create({
    ...{ client, clock, random, rbacPreflight: 'off' },
    cacheOptions: { namespaces: [keyIn(stage.cluster, '').namespace] },
  });
  // The creation imports the server of views, which takes real time.
  const manager = await (clock instanceof PatientClock ? clock.hold(creation) : creation);
  await DeclarativeOperator.create('shop', manager, { controllers: [...shop] }).start(signal);
}

function list(
  name: string,
  data: { readonly items: string; readonly version: string },
): CrashStep<CrashCluster> {
  return {
    name,
    change: ({ client, cluster }) => {
      const metadata = { ...keyIn(cluster, 'list'), labels: { role: 'list' } };
      const wished: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
      return client.apply(wished, { fieldManager: 'somebody', force: true });
    },
    until: async (stage) => {
      const wanted = data.items.split(',').map((item, index) => {
        return `list-${index}: ${item} ${data.version}`;
      });
      const isRolled = (await versionOf(stage)) === data.version;
      return isRolled && (await itemsOf(stage)).join() === wanted.join();
    },
  };
}

function deletion(): CrashStep<CrashCluster> {
  return {
    name: 'delete',
    change: ({ client, cluster }) => client.delete(ConfigMap, keyIn(cluster, 'list')),
    until: async (stage) =>
      (await versionOf(stage)) === undefined && (await itemsOf(stage)).length === 0,
  };
}

async function itemsOf({ client, cluster }: CrashStage<CrashCluster>): Promise<readonly string[]> {
  const { namespace } = keyIn(cluster, '');
  const { items } = await client.list(ConfigMap, { namespace, labelSelector: 'role=item' });
  return items
    .map(({ metadata, data }) => `${metadata.name}: ${data?.['item']} ${data?.['version']}`)
    .sort();
}

async function versionOf({
  client,
  cluster,
}: CrashStage<CrashCluster>): Promise<string | undefined> {
  const { spec } = await client.get(Deployment, keyIn(cluster, 'web'));
  return spec?.template.metadata?.annotations?.['shop.example.com/version'];
}

function keyIn({ namespace = 'default' }: CrashCluster, name: string) {
  return { namespace, name };
}
