import { expect } from 'chai';
import { ConfigMap, Deployment, Service } from '../../../../lib/object/kinds.js';
import { SampleConfig } from '../../../../samples/lifecycle/sample-config.js';
import type { BuilderTarget, NewTarget } from '../../../builder/suite/target.js';
import { versionOf } from '../../../builder/suite/target.js';
import { conditionsOf } from './deployed.js';
import { SampleStage } from './stage.js';

const server = 'http-server';
const ofAll = ['ConfigMap', 'Role', 'RoleBinding', 'Service', 'ServiceAccount'].map(
  (kind) => `${kind} ${server}`,
);
const of10 = [...ofAll, `Deployment ${server}`, 'Service http-server-internal'].sort();
const of11 = [...ofAll, `Deployment ${server}`, `PodDisruptionBudget ${server}`].sort();
const of20 = [...ofAll, 'Deployment http-server-2', `PodDisruptionBudget ${server}`].sort();

/** Declares how the SampleConfig operator behaves, on either server. */
export function lifecycleSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let stage: SampleStage;
  before(async () => {
    target = await newTarget();
  });
  after(() => target.close());
  beforeEach(async () => {
    stage = await SampleStage.open(target);
  });
  afterEach(() => stage.close());

  it('the operator deploys 1.0.0 with one write per object; after a restart it neither writes nor records events', async () => {
    await stage.start('1.0.0');
    await stage.create();
    await stage.deployed('1.0.0');
    expect([...(await stage.objects()).keys()].sort()).to.deep.equal(of10);
    const { metadata, status } = await stage.config();
    expect(metadata.finalizers).to.have.length(1);
    expect(status).to.include({ operatorVersion: '1.0.0', targetVersion: '1.0.0' });
    await stage.stop();
    expect(stage.events()).to.deep.equal([
      'DeployStarted',
      ...of10.map(() => 'CreateResourceSuccess'),
      'DeployCompleted',
    ]);
    const writes = await stage.writes();
    expect(writes.filter((write) => !write.includes('sampleconfigs'))).to.have.length(of10.length);
    await stage.start('1.0.0');
    await stage.patch({ metadata: { annotations: { touched: 'yes' } } });
    await stage.deployed('1.0.0');
    await stage.stop();
    expect(stage.events()).to.deep.equal([]);
    expect(await stage.writes()).to.deep.equal([]);
    await leave();
  });

  it('in an upgrade, the phase is Upgrading until the pods are ready, then superfluous objects are pruned', async () => {
    await deploy('1.0.0');
    const before = await stage.objects();
    await stage.stop();
    stage.events();
    await stage.start('1.1.0');
    await stage.eventually(async () => {
      const { status } = await stage.config();
      expect(status?.targetVersion).to.equal('1.1.0');
      expect([...(await stage.objects()).keys()]).to.include(`PodDisruptionBudget ${server}`);
      if (status?.phase !== 'Upgrading') return;
      expect(status).to.include({ operatorVersion: '1.1.0', observedVersion: '1.0.0' });
      expect(conditionsOf(status)).to.equal('T/T/T');
    });
    await stage.deployed('1.1.0');
    const after = await stage.objects();
    expect([...after.keys()].sort()).to.deep.equal(of11);
    for (const name of [...ofAll, `Deployment ${server}`]) {
      expect(after.get(name)?.metadata.uid, name).to.equal(before.get(name)?.metadata.uid);
    }
    const { spec, status } = await stage.deployment(server);
    expect(spec?.template.spec?.containers.map(({ image }) => image)).to.deep.equal(['nginx:1.29']);
    expect(status?.updatedReplicas).to.equal(2);
    await stage.stop();
    expect(stage.events()).to.deep.equal([
      ...['UpgradeStarted', 'CreateResourceSuccess', 'UpdateResourceSuccess'],
      ...['DeleteResourceSuccess', 'DeployCompleted'],
    ]);
    await leave();
  });

  it('the operator changes labels in 2.0.0: a new Deployment replaces the old one, and there are always pods that serve', async () => {
    await deploy('1.1.0');
    const before = await stage.objects();
    await stage.replaceBy('2.0.0');
    await stage.eventually(async () => {
      expect(await stage.readyEndpoints(), 'pods that serve').to.be.above(0);
      const objects = await stage.objects();
      if (!objects.has(`Deployment ${server}`)) {
        const { status } = await stage.deployment('http-server-2');
        expect(status?.readyReplicas, 'the old one is gone').to.equal(2);
        return;
      }
      throw new Error('the old Deployment is still there');
    });
    await stage.deployed('2.0.0');
    const after = await stage.objects();
    expect([...after.keys()].sort()).to.deep.equal(of20);
    for (const name of ofAll) {
      const { uid, labels } = after.get(name)?.metadata ?? {};
      expect(uid, name).to.equal(before.get(name)?.metadata.uid);
      expect(labels, name).to.include({ 'app.kubernetes.io/name': server });
      expect(labels, name).not.to.have.property('app');
    }
    await leave();
  });

  it('the operator refuses a downgrade with a condition and an event, and changes nothing', async () => {
    await deploy('2.0.0');
    const [before, { status: old }] = [await stage.objects(), await stage.config()];
    await stage.stop();
    stage.events();
    await stage.start('1.1.0');
    await stage.eventually(async () => {
      const { status } = await stage.config();
      const types = status?.conditions?.map(({ type }) => type);
      expect(types).to.include('DowngradeRefused');
    });
    await stage.stop();
    expect(stage.events()).to.deep.equal(['DowngradeRefused']);
    const { status } = await stage.config();
    expect({ ...status, conditions: [] }).to.deep.equal({ ...old, conditions: [] });
    expect(conditionsOf(status)).to.equal(conditionsOf(old));
    expect(versionsOf(await stage.objects())).to.deep.equal(versionsOf(before));
    await stage.start('2.0.0');
    await stage.eventually(async () => {
      const now = await stage.config();
      expect(now.status?.conditions?.map(({ type }) => type)).not.to.include('DowngradeRefused');
    });
    await leave();
  });

  it('the operator reverts edits and deletions, but keeps labels of users and the data of ConfigMaps', async () => {
    await deploy('1.1.0');
    const key = { name: server, namespace: stage.namespace };
    const ports = [{ name: 'debug', containerPort: 9_229 }];
    const containers = [
      { name: 'nginx', image: 'nginx:latest', ports },
      { name: 'sidecar', image: 'busybox:1' },
    ];
    const body = { spec: { template: { spec: { containers } } } };
    await target.admin.patch(Deployment, key, { type: 'strategic', body });
    const labels = { metadata: { labels: { team: 'night' }, annotations: { note: 'mine' } } };
    await target.admin.patch(Deployment, key, { type: 'merge', body: labels });
    await target.admin.patch(ConfigMap, key, { type: 'merge', body: { data: { mine: 'yes' } } });
    await target.admin.delete(Service, key);
    await stage.eventually(async () => {
      const { metadata, spec } = await stage.deployment(server);
      const [nginx, ...others] = spec?.template.spec?.containers ?? [];
      expect(others).to.deep.equal([]);
      expect(nginx).to.include({ image: 'nginx:1.29' });
      expect(nginx?.ports?.map(({ name }) => name)).to.deep.equal(['http']);
      expect(metadata.labels).to.include({ team: 'night' });
      expect(metadata.annotations).to.include({ note: 'mine' });
      expect([...(await stage.objects()).keys()].sort()).to.deep.equal(of11);
    });
    await stage.deployed('1.1.0');
    const { data } = await target.admin.get(ConfigMap, key);
    expect(data).to.include({ mine: 'yes' });
    await leave();
  });

  it('the operator applies the replicas, the placement and the labels of its configuration to the pods', async () => {
    await deploy('1.0.0');
    const nodePlacement = { nodeSelector: { 'kubernetes.io/os': 'linux' } };
    const tolerations = [{ key: 'infra', operator: 'Exists' }];
    await stage.patch({
      metadata: { labels: { 'app.kubernetes.io/part-of': 'bazaar' } },
      spec: { replicas: 1, nodePlacement: { tolerations } },
    });
    await stage.eventually(async () => {
      const { metadata, spec, status } = await stage.deployment(server);
      expect([spec?.replicas, status?.readyReplicas]).to.deep.equal([1, 1]);
      expect(spec?.template.spec?.tolerations).to.deep.equal(tolerations);
      const partOf = { 'app.kubernetes.io/part-of': 'bazaar' };
      expect(metadata.labels).to.include(partOf);
      expect(spec?.template.metadata?.labels).to.include(partOf);
      expect(spec?.selector.matchLabels).to.deep.equal({ app: server });
    });
    await stage.patch({ spec: { nodePlacement: { ...nodePlacement, tolerations: null } } });
    await stage.eventually(async () => {
      const { spec } = await stage.deployment(server);
      expect(spec?.template.spec).to.deep.include(nodePlacement).and.not.property('tolerations');
    });
    await leave();
  });

  it('if the configuration is deleted during an upgrade, the system is never reported as healthy, and the versions in the status stay', async () => {
    await deploy('1.0.0');
    await stage.stop();
    await stage.start('1.1.0');
    await stage.remove();
    await stage.gone();
    await stage.stop();
    expect(stage.events().filter((reason) => reason === 'DeleteResourceFailed')).to.deep.equal([]);
  });

  async function deploy(version: string): Promise<void> {
    await stage.start(version);
    await stage.create();
    await stage.deployed(version);
  }

  /** Removes the system, whatever release manages it. */
  async function leave(): Promise<void> {
    const { status } = await target.admin.get(SampleConfig, { name: stage.name });
    await stage.replaceBy(status?.observedVersion ?? '2.0.0');
    await stage.remove();
    await stage.gone();
  }
}

function versionsOf(objects: Awaited<ReturnType<SampleStage['objects']>>): readonly unknown[] {
  return [...objects.values()].map(({ metadata }) => versionOf(metadata));
}
