import { expect } from 'chai';
import {
  OperatorResource,
  cleanUpAnnotation,
  operatorCrdAccess,
  operatorCrdController,
} from '../../../lib/declarative/crd/index.js';
import type { OperatorDocument } from '../../../lib/declarative/crd/index.js';
import { Group } from '../../../lib/declarative/operator/index.js';
import { DeclarativeManager } from '../../../lib/declarative/views/index.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { isConditionTrue } from '../../../lib/object/conditions.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { seededRandom } from '../../../lib/system/random.js';
import { crashPoints } from '../../../lib/testing/index.js';
import type { CrashScenario } from '../../../lib/testing/index.js';
import type {
  CrashStage,
  OperatorStage,
} from '../../../lib/testing/crash-points/crash-scenario.js';
import { configMapOf, viewOf } from '../operator/group-scene.js';
import type { Thing } from '../operator/group-scene.js';

const namespace = 'default';
type Controllers = OperatorDocument['controllers'];
const first: Controllers = [
  viewOf('Price', namespace),
  configMapOf('Price', 'price'),
  configMapOf('Price', 'again'),
];
const changed: Controllers = [
  viewOf('Price', namespace),
  configMapOf('Price', 'price', { data: { value: '$.data.value', more: 'yes' } }),
];

async function put({ client }: CrashStage, controllers: Controllers): Promise<void> {
  const annotations = { [cleanUpAnnotation]: 'delete' };
  const metadata = { name: 'shop', annotations };
  const object = OperatorResource.object({ metadata, spec: { controllers } });
  await client.apply(object, { fieldManager: 'somebody', force: true });
}

/** Whether exactly these ConfigMaps exist and each operator is ready in its current generation. */
async function isMade({ client }: CrashStage, names: readonly string[]): Promise<boolean> {
  const { items } = await client.list<Thing>(
    { apiVersion: 'v1', kind: 'ConfigMap' },
    { namespace, labelSelector: 'made=yes' },
  );
  expect(items.map(({ metadata }) => metadata.name).sort()).to.deep.equal(names);
  const { items: operators } = await client.list(OperatorResource);
  return operators.every(
    ({ metadata, status }) =>
      status?.observedGeneration === metadata.generation &&
      isConditionTrue(status?.conditions, 'Ready'),
  );
}

async function operator({ client, clock, random, signal }: OperatorStage): Promise<void> {
  const manager = await DeclarativeManager.create({ client, clock, random });
  const group = new Group({ manager });
  manager.add(operatorCrdController({ group }), { requires: operatorCrdAccess });
  await group.start(signal);
}

const scenario: CrashScenario = {
  name: 'an Operator object',
  cluster: () =>
    EmbeddedCluster.start({
      ...{ clock: new VirtualClock(), random: seededRandom(1), crds: [OperatorResource.crd] },
    }),
  setup: async ({ client }) => {
    for (const name of ['a', 'b']) {
      const metadata = { name, namespace, labels: { of: 'Price' } };
      await client.create<Thing>({
        ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value: name } },
      });
    }
  },
  operator,
  kinds: [OperatorResource],
  ignoredKinds: ['Event', 'Lease', 'SelfSubjectAccessReview', 'SelfSubjectRulesReview'],
  steadyMs: 5_000,
  steps: [
    {
      name: 'it is created',
      change: (stage) => put(stage, first),
      until: (stage) => isMade(stage, ['again-a', 'again-b', 'price-a', 'price-b']),
    },
    {
      name: 'a controller is changed, another one taken out',
      change: (stage) => put(stage, changed),
      until: (stage) => isMade(stage, ['price-a', 'price-b']),
    },
    {
      name: 'it is deleted',
      change: ({ client }) => client.delete(OperatorResource, { name: 'shop' }),
      until: async (stage) => {
        expect((await stage.client.list(OperatorResource)).items).to.deep.equal([]);
        return isMade(stage, []);
      },
    },
  ],
};

describe('The operator of an Operator object', () => {
  // Loads the modules that are imported on demand. Imports take real time, for which crash points do not wait.
  before(async () => {
    const cluster = await EmbeddedCluster.start();
    await (await DeclarativeManager.create({ client: cluster.client() })).stop();
    await cluster.stop();
  });

  it('reaches the same state after a crash at each request as without a crash', async function () {
    this.timeout(60_000);
    const report = await crashPoints(scenario, { sample: { count: 6, seed: 7 } });
    expect(report.results).to.have.length(6);
  });
});
