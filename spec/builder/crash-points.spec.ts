import { expect } from 'chai';
import {
  ConfigMap,
  PersistentVolumeClaim,
  Pod,
  Service,
  StatefulSet,
} from '../../lib/object/kinds.js';
import { compareQuantities } from '../../lib/object/quantity.js';
import { crashPoints } from '../../lib/testing/index.js';
import type { CrashPointsReport } from '../../lib/testing/index.js';
import type { CrashCluster, CrashStage } from '../../lib/testing/crash-points/crash-scenario.js';
import { crashSample, isSampled } from '../sample.js';
import { deletion, meddling, rollout, shopScenario, wish } from './suite/crash-scenarios.js';
import type { ShopScenario } from './suite/crash-scenarios.js';

const podSpec = { containers: [{ name: 'main', image: 'registry.example/main:1' }] };

async function everyPoint(scenario: ShopScenario): Promise<CrashPointsReport> {
  const report = await crashPoints(shopScenario(scenario), crashSample(2));
  expect(report.results.filter(({ request }) => request === undefined)).to.deep.equal([]);
  return report;
}

/** Reads every object from the server before the write, so that a crash can come between the two. */
const live: ShopScenario = {
  name: 'read from the server',
  live: true,
  options: { owns: [ConfigMap, Service] },
  chain: (builder, { size = '', web = '' }) => {
    const both = builder.configMap({ name: 'env', data: { size } }).service({
      name: 'data',
      spec: { ports: [{ port: 80 }], selector: { app: 'data' } },
    });
    return web === '' ? both : both.configMap({ name: 'web', data: { web } });
  },
  steps: [
    wish('create', { size: '1', web: 'yes' }),
    wish('change', { size: '2', web: 'yes' }),
    wish('prune', { size: '2' }),
    deletion(),
  ],
};

/** Recreates the StatefulSet while its pods and claims stay. */
const recreation: ShopScenario = {
  name: 'a StatefulSet recreated around its pods',
  kinds: [Pod],
  invariant: claimsAreAsLargeAsTheirSet,
  options: { onImmutable: 'recreateOrphan' },
  chain: (builder, { service = '', storage = '1Gi' }) =>
    builder.statefulSet({
      ...{ name: 'data', podSpec, spec: { serviceName: service } },
      volumeClaimTemplates: [
        {
          metadata: { name: 'disk' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
        },
      ],
    }),
  steps: [
    wish('create', { service: 'one' }),
    wish('another service', { service: 'two' }),
    wish('bigger claims', { service: 'two', storage: '2Gi' }),
  ],
};

/**
 * A StatefulSet adopts claims by name and never grows them, so claims must be grown before it is
 * recreated.
 */
async function claimsAreAsLargeAsTheirSet({ client }: CrashStage<CrashCluster>): Promise<void> {
  const [sets, claims] = await Promise.all([
    client.list(StatefulSet),
    client.list(PersistentVolumeClaim),
  ]);
  for (const { metadata, spec } of sets.items) {
    for (const template of spec?.volumeClaimTemplates ?? []) {
      const prefix = `${template.metadata?.name ?? ''}-${metadata.name ?? ''}-`;
      const own = claims.items.filter((claim) => claim.metadata.name?.startsWith(prefix));
      const asked = storageOf(template);
      for (const claim of own) {
        expect(compareQuantities(storageOf(claim), asked), `${prefix}*`).to.be.at.least(0);
      }
    }
  }
}

function storageOf({ spec }: Pick<PersistentVolumeClaim, 'spec'>): string {
  return String(spec?.resources?.requests?.['storage']);
}

const replicas: ShopScenario = {
  name: 'replicas handed over to an autoscaler',
  chain: (builder, { scaling = '' }) =>
    builder.deployment({ name: 'web', podSpec, replicas: scaling === '' ? 2 : 'external' }),
  steps: [wish('create', {}), wish('hand over', { scaling: 'yes' })],
};

const takingOver: ShopScenario = {
  name: 'adoption of an object of another operator',
  options: { adopt: true, adoptManagers: ['manager'] },
  chain: (builder, { old = '' }) =>
    builder.configMap({ name: 'env', data: old === '' ? { a: '1' } : { a: '1', old } }),
  steps: [
    meddling(
      'made before',
      (client, namespace) =>
        client.create<ConfigMap>(
          {
            ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'env' } },
            data: { a: '0', older: 'yes' },
          },
          { fieldManager: 'manager' },
        ),
      () => Promise.resolve(true),
    ),
    wish('take over', { old: 'yes' }),
    meddling(
      'clear the managers',
      (client, namespace) =>
        client.patch(
          ConfigMap,
          { namespace, name: 'env' },
          { type: 'merge', body: { metadata: { managedFields: [{}] } } },
        ),
      async (client, namespace) => {
        const { metadata } = await client.get(ConfigMap, { namespace, name: 'env' });
        const managers = metadata.managedFields?.map(({ manager }) => manager) ?? [];
        return managers.includes('shop-operator');
      },
    ),
    wish('drop a field', {}),
  ],
};

describe('Builder in an operator that crashes at any request', function () {
  this.timeout(120_000);

  for (const scenario of [live, rollout, recreation, replicas, takingOver]) {
    it(`reaches the same final state after a crash: ${scenario.name}`, async () => {
      const { requests, results } = await everyPoint(scenario);
      const writes = requests.filter(({ write }) => write);
      if (!isSampled) expect(results.length).to.be.above(requests.length + writes.length);
    });
  }

  it('is tested with a crash at requests of every kind, also at reads', async () => {
    const { requests } = await crashPoints(shopScenario(live), { only: { request: 1 } });
    expect(requests.map(({ verb }) => verb)).to.include.members(['get', 'list', 'apply', 'delete']);
  });
});
