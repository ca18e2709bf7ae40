import { expect } from 'chai';
import { checkUpgrade } from '../../lib/cli/upgrade/check-upgrade.js';
import { Refusals } from '../../lib/cli/upgrade/replay.js';
import type { Finding, UpgradeReport } from '../../lib/cli/upgrade/upgrade-report.js';
import { clientFromKubeConfig, ensureCrd } from '../../lib/client/index.js';
import type { Client, ConnectedClient } from '../../lib/client/index.js';
import { Manager } from '../../lib/manager/index.js';
import { ConfigMap, Deployment, Namespace, Pod, StatefulSet } from '../../lib/object/kinds.js';
import { rolloutStatus } from '../../lib/object/rollout-status.js';
import { silentLogger } from '../../lib/system/logger.js';
import { systemRandom } from '../../lib/system/random.js';
import { eventually } from '../../lib/testing/index.js';
import { storeOperator } from '../cli/upgrade/store/store-operator.js';
import type { StoreVersion } from '../cli/upgrade/store/store-operator.js';
import { sharedControlPlane } from './control-plane/shared.js';

const apiVersion = 'stores.example/v1';

describe('findings of upgrade-check, compared with an upgrade on a real API server', () => {
  const namespace = `store-${systemRandom.uuid().slice(0, 8)}`;
  const store = { apiVersion, kind: 'Store', metadata: { name: 'a', namespace }, spec: {} };
  let client: ConnectedClient;

  before(async () => {
    const plane = await sharedControlPlane();
    client = await clientFromKubeConfig({ path: plane.kubeConfigPath });
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const [resource] = storeOperator().resources ?? [];
    if (resource !== undefined) await ensureCrd(client, resource.crd);
    await client.create(store);
    await run({}, 'settings');
  });

  after(async () => {
    await client.delete(Namespace, { name: namespace });
    await client.close();
  });

  function check(to: StoreVersion): Promise<UpgradeReport> {
    return checkUpgrade({
      ...{ from: storeOperator(), to: storeOperator(to), resources: [store] },
      ...{ namespace, logger: silentLogger, signal: new AbortController().signal },
    });
  }

  /** Runs a version until all is rolled out, with only the settings of this name. */
  async function run(version: StoreVersion, settings: string): Promise<void> {
    const stop = new AbortController();
    const manager = new Manager({ client, rbacPreflight: 'off' });
    await storeOperator(version).setup(manager);
    const running = manager.run(stop.signal);
    try {
      await eventually(() => expectRest(settings), { timeoutMs: 90_000 });
    } finally {
      stop.abort();
      await running;
    }
  }

  async function expectRest(settings: string): Promise<void> {
    const web = await client.get(Deployment, { namespace, name: 'web' });
    const db = await client.get(StatefulSet, { namespace, name: 'db' });
    const [container] = web.spec?.template.spec?.containers ?? [];
    expect(container?.envFrom?.[0]?.configMapRef?.name).to.equal(settings);
    const complete = [rolloutStatus(web), rolloutStatus(db)].map((each) => each.complete);
    expect(complete).to.deep.equal([true, true]);
    const { items } = await client.list(ConfigMap, { namespace });
    const names = items.map(({ metadata }) => metadata.name).sort();
    expect(names).to.deep.equal(['kube-root-ca.crt', 'notes', settings].sort());
  }

  /** Returns the real server's rejections of a version. */
  async function refusedOf(version: StoreVersion): Promise<readonly Finding[]> {
    const refusals = new Refusals();
    const noting: Client = refusals.noting(client);
    const manager = new Manager({ client: noting, rbacPreflight: 'off' });
    await storeOperator(version).setup(manager);
    for (const controller of manager.controllers) {
      const key = { namespace, name: 'a' };
      const done = await controller.reconcileOnce({ key, client: noting }).catch(() => undefined);
      expect(done).to.equal(undefined);
    }
    return refusals.findings;
  }

  for (const [what, to] of [
    ['the selector of a Deployment', { webSelector: { app: 'web', part: 'back' } }],
    ['the Service of a StatefulSet', { dbService: 'db-new' }],
    ['the claims of a StatefulSet', { storage: 'fast' }],
  ] as const) {
    it(`report the same change as refused as the API server: ${what}`, async () => {
      const found = (await check(to)).findings.filter(({ type }) => type === 'refused');
      expect(found).to.have.lengthOf(1);
      expect(await refusedOf(to)).to.deep.equal(found);
    });
  }

  it('report the same change as refused as the API server: the address of a Service', async () => {
    const to = { clusterIP: '10.96.7.7' };
    const [found] = (await check(to)).findings.filter(({ type }) => type === 'refused');
    const [refused] = await refusedOf(to);
    const fields = (finding?: Finding) => finding?.changes.map(({ path }) => path);
    expect(fields(refused)).to.deep.equal(fields(found)).and.deep.equal(['spec.clusterIP']);
    expect(refused?.remedy).to.equal(found?.remedy);
  });

  it('report the restarts and the pruned ConfigMap of the real upgrade', async () => {
    const to = { image: 'store:2', settings: { name: 'config' } };
    const { findings, changes } = await check(to);
    const named = (type: string) =>
      findings.filter((each) => each.type === type).map(({ ref }) => `${ref.kind} ${ref.name}`);
    const before = await podUids();
    await run(to, 'config');
    const after = await podUids();
    const restarted = ['Deployment web', 'StatefulSet db'];
    expect(named('restart')).to.have.members(restarted);
    expect(before.filter((uid) => after.includes(uid))).to.deep.equal([]);
    // `run` has checked that one is gone and the other exists.
    expect(named('renamed')).to.deep.equal(['ConfigMap settings']);
    expect(findings.length).to.equal(3);
    expect(changes).to.deep.equal([]);
  });

  async function podUids(): Promise<readonly string[]> {
    const { items } = await client.list(Pod, { namespace });
    const staying = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return staying.map(({ metadata }) => metadata.uid ?? '');
  }
});
